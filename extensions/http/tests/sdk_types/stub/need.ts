/** What the stub has against a request: its answer is an error with this status. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export function need(holds: unknown, complaint: string): asserts holds {
  if (!holds) throw new Refusal(400, complaint);
}

export function needOnly(object: object, members: readonly string[], where: string): void {
  for (const member of Object.keys(object)) need(members.includes(member), `${where}: unknown member ${member}`);
}

/** Pieces of 1 to 7 characters. */
export function* pieces(text: string): Generator<string> {
  const characters = Array.from(text);
  for (let at = 0, size = 1; at < characters.length; at += size, size = (size % 7) + 1)
    yield characters.slice(at, at + size).join("");
}

/** A reply that our serialiser wrote, with what is meant by it. */
export interface Mirrored {
  api: "openai" | "anthropic";
  name: string;
  reply: unknown;
  meant: ({ text: string } | { call: string; tool: string; arguments: unknown })[];
}
