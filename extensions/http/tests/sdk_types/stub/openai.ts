// Chat completions: what a request must be, the scripted replies, and how a reply is cut into chunks.
import type {
  ChatCompletion,
  ChatCompletionAssistantMessageParam,
  ChatCompletionChunk,
  ChatCompletionCreateParams,
  ChatCompletionMessage,
  ChatCompletionMessageParam,
  ChatCompletionToolMessageParam,
  ChatCompletionUserMessageParam,
} from "openai/resources/chat/completions";
import type { CompletionUsage } from "openai/resources/completions";
import type { ErrorObject } from "openai/resources/shared";
import type { IncomingHttpHeaders } from "node:http";
import { type Mirrored, need, needOnly, pieces, Refusal } from "./need.js";

const bodyMembers = [
  "model", "messages", "stream", "stream_options", "tools", "temperature", "max_completion_tokens",
] as const satisfies readonly (keyof ChatCompletionCreateParams)[];
const plainMembers = ["role", "content", "name"] as const satisfies readonly (keyof ChatCompletionUserMessageParam)[];
const toolMembers = [
  "role", "content", "tool_call_id",
] as const satisfies readonly (keyof ChatCompletionToolMessageParam)[];
const assistantMembers = [
  "role", "content", "name", "refusal", "tool_calls", "audio", "function_call",
] as const satisfies readonly (keyof ChatCompletionAssistantMessageParam)[];

export function checkHeaders(headers: IncomingHttpHeaders): void {
  if (headers.authorization !== "Bearer test-key") throw new Refusal(401, "wrong key");
  need(headers["content-type"] === "application/json", "content-type");
}

function isText(content: unknown): boolean {
  if (typeof content === "string") return true;
  return Array.isArray(content) && content.length > 0 && content.every((part) => part.type === "text" && part.text);
}

function checkAssistant(m: ChatCompletionAssistantMessageParam, open: Set<string>): void {
  needOnly(m, assistantMembers, "assistant");
  need(!("tool_calls" in m) || (m.tool_calls && m.tool_calls.length > 0), "tool_calls without a call");
  for (const call of m.tool_calls ?? []) {
    needOnly(call, ["id", "type", "function"], "tool_calls");
    need(call.type === "function" && call.id && !open.has(call.id), "a call without an id of its own");
    needOnly(call.function, ["name", "arguments"], "function");
    need(typeof call.function.arguments === "string", "arguments are text");
    open.add(call.id);
  }
  need(isText(m.content) || m.tool_calls || m.refusal, "an assistant message without anything");
}

function checkMessages(messages: ChatCompletionMessageParam[]): void {
  const open = new Set<string>();
  for (const m of messages) {
    if (m.role === "tool") {
      needOnly(m, toolMembers, "tool");
      need(open.delete(m.tool_call_id), `no call is open for the result of ${m.tool_call_id}`);
      need(isText(m.content), "the content of a tool message is text");
      continue;
    }
    need(open.size === 0, `calls without a result: ${[...open].join(", ")}`);
    if (m.role === "assistant") {
      checkAssistant(m, open);
    } else {
      need(m.role === "user" || m.role === "system" || m.role === "developer", `role ${m.role}`);
      needOnly(m, plainMembers, m.role);
      need(m.content.length > 0, "content");
    }
  }
  need(open.size === 0, `calls without a result: ${[...open].join(", ")}`);
  need(messages.at(-1)?.role !== "assistant", "the assistant has the last word");
}

export function checkBody(body: ChatCompletionCreateParams, accept: string | undefined): void {
  needOnly(body, bodyMembers, "body");
  need(typeof body.model === "string" && body.model, "model");
  need(body.stream === true || !("stream_options" in body), "stream_options without stream");
  need(accept === "application/json" || (body.stream && accept === "text/event-stream"), `accept: ${accept}`);
  need(Array.isArray(body.messages) && body.messages.length > 0, "messages");
  checkMessages(body.messages);
  need(!("tools" in body) || (body.tools && body.tools.length > 0), "tools without a tool");
  for (const tool of body.tools ?? []) {
    needOnly(tool, ["type", "function"], "tools");
    need(tool.type === "function" && /^[a-zA-Z0-9_-]{1,64}$/.test(tool.function.name), "the name of a tool");
    need(tool.function.parameters?.["type"] === "object", "parameters");
  }
}

type Reply = { message: ChatCompletionMessage; finish_reason: ChatCompletion.Choice["finish_reason"] };

const call = (id: string, name: string, args: string) =>
  ({ id, type: "function", function: { name, arguments: args } }) as const;

const weather: Reply[] = [
  {
    message: {
      role: "assistant", content: "I ask for both 🙂.", refusal: null, annotations: [],
      tool_calls: [call("c1", "weather", '{"city":"Tromsø"}'), call("c2", "weather", '{ "city": "Łódź \\"x\\"" }')],
    },
    finish_reason: "tool_calls",
  },
  {
    message: { role: "assistant", content: null, refusal: null, tool_calls: [call("c3", "fail", "{}")] },
    finish_reason: "tool_calls",
  },
  {
    message: { role: "assistant", content: "Tromsø −3 °C, Łódź 漢字.", refusal: null, annotations: [] },
    finish_reason: "stop",
  },
  { message: { role: "assistant", content: null, refusal: "I will not." }, finish_reason: "stop" },
  { message: { role: "assistant", content: "Good.", refusal: null, annotations: [] }, finish_reason: "stop" },
];

const usage: CompletionUsage = {
  prompt_tokens: 100, completion_tokens: 20, total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 64, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 8 },
};

export const failure: { error: ErrorObject } = {
  error: { message: "The server had an error while processing your request", type: "server_error", param: null,
    code: null },
};

export function errorBody(message: string): { error: ErrorObject } {
  return { error: { message, type: "invalid_request_error", param: null, code: null } };
}

/** The next reply of that model: by the number of its replies in the request. */
export function replyTo(body: ChatCompletionCreateParams, mirror: Map<string, Mirrored>): ChatCompletion {
  const mirrored = mirror.get(body.model);
  let reply = weather[body.messages.filter((m) => m.role === "assistant").length];
  if (mirrored) {
    const message = mirrored.reply as ChatCompletionMessage;
    reply = { message, finish_reason: message.tool_calls ? "tool_calls" : "stop" };
  }
  need(reply, "the script has ended");
  return {
    id: "chatcmpl-1", object: "chat.completion", created: 1_700_000_000, model: body.model, usage,
    choices: [{ index: 0, message: reply.message, finish_reason: reply.finish_reason, logprobs: null }],
  };
}

type Delta = ChatCompletionChunk.Choice.Delta;

function* deltas(message: ChatCompletionMessage): Generator<Delta> {
  yield { role: "assistant", content: message.content === null ? null : "", refusal: null };
  for (const content of pieces(message.content ?? "")) yield { content };
  for (const refusal of pieces(message.refusal ?? "")) yield { refusal };
  for (const [index, one] of (message.tool_calls ?? []).entries()) {
    if (one.type !== "function") throw new Error("only functions are streamed");
    const { name, arguments: args } = one.function;
    yield { tool_calls: [{ index, id: one.id, type: "function", function: { name, arguments: "" } }] };
    for (const piece of pieces(args)) yield { tool_calls: [{ index, function: { arguments: piece } }] };
  }
}

export function* chunksOf(reply: ChatCompletion, withUsage: boolean): Generator<ChatCompletionChunk> {
  const { id, created, model } = reply;
  const choice = reply.choices[0];
  if (!choice) throw new Error("a reply without a choice");
  const chunk = (choices: ChatCompletionChunk.Choice[]): ChatCompletionChunk => ({
    id, created, model, choices, object: "chat.completion.chunk", ...(withUsage ? { usage: null } : {}),
  });
  for (const delta of deltas(choice.message)) yield chunk([{ index: 0, delta, finish_reason: null, logprobs: null }]);
  yield chunk([{ index: 0, delta: {}, finish_reason: choice.finish_reason, logprobs: null }]);
  if (withUsage) yield { ...chunk([]), usage: reply.usage ?? null };
}
