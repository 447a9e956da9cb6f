// The official clients read what our serialisers wrote, whole and streamed.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { deepStrictEqual, rejects } from "node:assert/strict";
import type { ChatCompletionMessage } from "openai/resources/chat/completions";
import type { Message } from "@anthropic-ai/sdk/resources/messages";
import type { Mirrored } from "./need.js";

type Parts = Mirrored["meant"];

function partsOfChat(message: ChatCompletionMessage): Parts {
  const parts: Parts = message.content ? [{ text: message.content }] : [];
  for (const call of message.tool_calls ?? []) {
    if (call.type !== "function") throw new Error(`a call of type ${call.type}`);
    parts.push({ call: call.id, tool: call.function.name, arguments: JSON.parse(call.function.arguments) });
  }
  return parts;
}

function partsOfMessage(message: Message): Parts {
  return message.content.map((block) => {
    if (block.type === "text") return { text: block.text };
    if (block.type === "tool_use") return { call: block.id, tool: block.name, arguments: block.input };
    throw new Error(`a block of type ${block.type}`);
  });
}

async function readChat(client: OpenAI, { name, meant }: Mirrored): Promise<void> {
  const request = { model: name, messages: [{ role: "user", content: "go" }] } as const;
  const whole = await client.chat.completions.create({ ...request, messages: [...request.messages] });
  const options = { ...request, messages: [...request.messages], stream_options: { include_usage: true } };
  const streamed = await client.chat.completions.stream(options).finalChatCompletion();
  for (const reply of [whole, streamed]) {
    const choice = reply.choices[0];
    if (!choice) throw new Error("a reply without a choice");
    deepStrictEqual(partsOfChat(choice.message), meant);
    deepStrictEqual(reply.usage?.total_tokens, 120);
  }
}

async function readMessage(client: Anthropic, { name, meant }: Mirrored): Promise<void> {
  const request = { model: name, max_tokens: 100, messages: [{ role: "user" as const, content: "go" }] };
  const whole = await client.messages.create(request);
  const streamed = await client.messages.stream(request).finalMessage();
  for (const reply of [whole, streamed]) {
    deepStrictEqual(partsOfMessage(reply), meant);
    deepStrictEqual(reply.usage.output_tokens, 20);
  }
}

/** How many replies both ways; throws for the first that is read otherwise than meant. */
export async function readAll(address: string, mirror: Iterable<Mirrored>): Promise<number> {
  const openai = new OpenAI({ apiKey: "test-key", baseURL: `${address}/openai/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: "test-key", baseURL: `${address}/anthropic`, maxRetries: 0 });
  let read = 0;
  for (const one of mirror) {
    await (one.api === "openai" ? readChat(openai, one) : readMessage(anthropic, one));
    ++read;
  }
  await failAsMeant(openai, anthropic);
  return read;
}

/** The stub's refusals and errors inside streams are what the official clients expect of the provider. */
async function failAsMeant(openai: OpenAI, anthropic: Anthropic): Promise<void> {
  const messages = [{ role: "user" as const, content: "go" }];
  await rejects(openai.chat.completions.stream({ model: "broken", messages }).finalMessage(), OpenAI.APIError);
  await rejects(openai.chat.completions.create({ model: "m", messages: [] }), OpenAI.BadRequestError);
  await rejects(
    anthropic.messages.stream({ model: "broken", max_tokens: 9, messages }).finalMessage(), Anthropic.APIError);
  await rejects(anthropic.messages.create({ model: "m", max_tokens: 9, messages: [] }), Anthropic.BadRequestError);
}
