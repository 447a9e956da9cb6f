// The Messages API: what a request must be, the scripted replies, and how a reply is cut into events.
import type {
  ContentBlock,
  ContentBlockParam,
  Message,
  MessageCountTokensParams,
  MessageCreateParams,
  MessageParam,
  RawContentBlockDelta,
  RawMessageStreamEvent,
  StopReason,
  TextCitation,
  ToolResultBlockParam,
  Usage,
} from "@anthropic-ai/sdk/resources/messages";
import type { BetaThinkingConfigParam } from "@anthropic-ai/sdk/resources/beta/messages";
import type { ErrorResponse } from "@anthropic-ai/sdk/resources/shared";
import type { IncomingHttpHeaders } from "node:http";
import { type Mirrored, need, needOnly, pieces, Refusal } from "./need.js";

const bindingBeta = "thinking-binding-controls-2026-08-01";

const countMembers = [
  "model", "messages", "system", "tools", "thinking",
] as const satisfies readonly (keyof MessageCountTokensParams)[];
const callMembers = [
  ...countMembers, "max_tokens", "stream",
] as const satisfies readonly (keyof MessageCreateParams)[];

/** Ours and that of the official client, whose types are those of the second. */
const versions = new Set(["2023-06-01", "2026-10-21"]);

/** The API takes the key in either header; the official client of version 1 sends the second. */
export function checkHeaders(headers: IncomingHttpHeaders): void {
  const hasKey = headers["x-api-key"] === "test-key" || headers.authorization === "Bearer test-key";
  if (!hasKey) throw new Refusal(401, "wrong key");
  need(versions.has(String(headers["anthropic-version"])), "anthropic-version");
  need(headers["content-type"] === "application/json", "content-type");
}

type Block = ContentBlockParam | (ToolResultBlockParam & { cache_control?: unknown });

function blocksOf(m: MessageParam): Block[] {
  return typeof m.content === "string" ? [{ type: "text", text: m.content }] : m.content;
}

function isMarked(block: Block): boolean {
  return "cache_control" in block && Boolean(block.cache_control);
}

/** Thinking has to come back as it was sent. */
const signatures = new Map<string, string>();

function checkBlock(block: Block): void {
  if (block.type === "text") need(block.text.trim(), "a blank text block");
  if (block.type === "thinking") {
    need(signatures.get(block.thinking) === block.signature, "thinking with another signature");
    need(!isMarked(block), "thinking with a cache breakpoint");
  }
  if (block.type === "redacted_thinking") need(block.data === redacted, "other redacted thinking");
  if (block.type === "tool_use") need(typeof block.input === "object" && block.input, "input is an object");
  if (block.type === "tool_result" && block.is_error)
    need(typeof block.content === "string" || block.content?.every((item) => item.type === "text"),
      "an error with more than text");
}

/** Results stand first in the message behind their calls; returns the calls that now wait. */
function checkMessage(m: MessageParam, open: Set<string>, isLast: boolean): void {
  needOnly(m, ["role", "content"], m.role);
  const blocks = blocksOf(m);
  need(blocks.length > 0 || (isLast && m.role === "assistant"), "a message without content");
  let isBehind = false;
  for (const block of blocks) {
    checkBlock(block);
    if (block.type === "tool_result") {
      need(m.role === "user" && !isBehind, "a result behind other content");
      need(open.delete(block.tool_use_id), `no call is open for the result of ${block.tool_use_id}`);
      continue;
    }
    need(open.size === 0, `calls without a result: ${[...open].join(", ")}`);
    isBehind = true;
  }
  if (m.role !== "assistant") return;
  for (const block of blocks) if (block.type === "tool_use") open.add(block.id);
}

function checkMessages(messages: MessageParam[]): void {
  need(messages[0]?.role === "user", "the first message is not the user's");
  const open = new Set<string>();
  for (const [index, m] of messages.entries()) {
    need(m.role === "user" || m.role === "assistant", `role ${m.role}`);
    checkMessage(m, open, index + 1 === messages.length);
  }
  need(open.size === 0, `calls without a result: ${[...open].join(", ")}`);
  const last = messages.at(-1);
  const isPaused = last?.role === "assistant" && blocksOf(last).at(-1)?.type === "server_tool_use";
  need(last?.role === "user" || isPaused, "the assistant has the last word");
}

function checkMarks(body: MessageCreateParams | MessageCountTokensParams): void {
  const blocks = body.messages.flatMap(blocksOf);
  const system = Array.isArray(body.system) ? body.system : [];
  const marks = [...blocks, ...system, ...(body.tools ?? [])].filter((one) => "cache_control" in one && one.cache_control);
  need(marks.length <= 4, `${marks.length} cache breakpoints`);
  need(typeof body.system !== "string" || body.system.trim(), "blank system text");
}

/** The last request of each model whose thinking is bound to what stands in front of it. */
const bound = new Map<string, string[]>();
const edited = new Set<string>();

function needDropBlock(body: MessageCreateParams, headers: IncomingHttpHeaders): void {
  const thinking = body.thinking as BetaThinkingConfigParam | undefined;
  const binding = thinking && "block_binding" in thinking ? thinking.block_binding : undefined;
  if (binding) need(headers["anthropic-beta"]?.includes(bindingBeta), "block_binding without its beta header");
  if (!body.model.startsWith("bound")) return;
  const unmarked = (key: string, value: unknown) => (key === "cache_control" ? undefined : value);
  const plain = body.messages.map((m) => m.role + JSON.stringify(blocksOf(m), unmarked));
  const before = bound.get(body.model) ?? [];
  if (!before.every((m, index) => m === plain[index])) edited.add(body.model);
  bound.set(body.model, plain);
  const hasThinking = body.messages.some((m) => blocksOf(m).some((block) => block.type === "thinking"));
  need(!edited.has(body.model) || !hasThinking || binding?.prefix_mismatch_behavior === "drop_block",
    "thinking does not fit what stands in front of it");
}

export function checkCount(body: MessageCountTokensParams): void {
  needOnly(body, countMembers, "body");
  checkMessages(body.messages);
  checkMarks(body);
}

export function checkBody(body: MessageCreateParams, headers: IncomingHttpHeaders): void {
  const accept = headers.accept;
  needOnly(body, callMembers, "body");
  need(typeof body.model === "string" && body.model, "model");
  need(Number.isInteger(body.max_tokens) && body.max_tokens > 0, "max_tokens");
  need(accept === "application/json" || (body.stream && accept === "text/event-stream"), `accept: ${accept}`);
  checkMessages(body.messages);
  checkMarks(body);
  needDropBlock(body, headers);
  for (const tool of body.tools ?? []) {
    need("input_schema" in tool && tool.input_schema.type === "object", "input_schema");
    needOnly(tool, ["name", "description", "input_schema", "cache_control"], "tools");
  }
}

type Reply = { content: ContentBlock[]; stop_reason: StopReason; stop_details?: Message["stop_details"] };

const redacted = "cmVkYWN0ZWQ=";
const direct = { type: "direct" } as const;
const use = (id: string, name: string, input: unknown) => ({ type: "tool_use", id, name, input, caller: direct }) as const;
const text = (words: string, citations: TextCitation[] | null = null) => ({ type: "text", text: words, citations }) as const;

function think(thinking: string): ContentBlock {
  const signature = Buffer.from(thinking).toString("base64");
  signatures.set(thinking, signature);
  return { type: "thinking", thinking, signature };
}

const citation: TextCitation = {
  type: "web_search_result_location", cited_text: "−3 °C", encrypted_index: "aQ==", title: "漢字",
  url: "https://example.org/",
};

const weather: Reply[] = [
  {
    content: [
      think("Two cities:\n漢字 🙂"), { type: "redacted_thinking", data: redacted }, text("I ask for both 🙂."),
      use("t1", "weather", { city: "Tromsø" }), use("t2", "weather", { city: 'Łódź "x"', days: [1, 2.5, null] }),
    ],
    stop_reason: "tool_use",
  },
  { content: [think("And that one."), use("t3", "fail", {})], stop_reason: "tool_use" },
  {
    content: [
      text("I search."),
      { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "Łódź" }, caller: direct },
    ],
    stop_reason: "pause_turn",
  },
  {
    content: [
      {
        type: "web_search_tool_result", tool_use_id: "srvtoolu_1", caller: direct,
        content: [{ type: "web_search_result", title: "漢字", url: "https://example.org/", encrypted_content: "eA==",
          page_age: null }],
      },
      text("Tromsø −3 °C, Łódź 漢字.", [citation]),
    ],
    stop_reason: "end_turn",
  },
  {
    content: [text("I will")], stop_reason: "refusal",
    stop_details: { type: "refusal", category: "cyber", explanation: "not this" },
  },
  { content: [text("Good.")], stop_reason: "end_turn" },
];

/** A refusal that comes without any content, and is not sent back. */
const silent: Reply[] = [
  { content: [], stop_reason: "refusal", stop_details: { type: "refusal", category: null, explanation: null } },
  { content: [text("Good.")], stop_reason: "end_turn" },
];

const boundScript: Reply[] = [0, 1, 2, 3].map((n) => ({
  content: [think(`thought ${n}`), use(`p${n}`, "page", { n })], stop_reason: "tool_use",
}));
boundScript.push({ content: [text("Four pages.")], stop_reason: "end_turn" });

const usage: Usage = {
  input_tokens: 20, output_tokens: 20, cache_read_input_tokens: 64, cache_creation_input_tokens: 16,
  cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 16 }, inference_geo: null,
  output_tokens_details: { thinking_tokens: 8 }, server_tool_use: null, service_tier: "standard", speed: null,
};

export const failure: ErrorResponse = {
  type: "error", error: { type: "overloaded_error", message: "Overloaded" }, request_id: "req_1",
};

export function errorBody(message: string): ErrorResponse {
  return { type: "error", error: { type: "invalid_request_error", message }, request_id: "req_2" };
}

function scriptOf(model: string): Reply[] {
  if (model.startsWith("bound")) return boundScript;
  return model === "silent" ? silent : weather;
}

export function replyTo(body: MessageCreateParams, mirror: Map<string, Mirrored>): Message {
  const mirrored = mirror.get(body.model);
  const content = (mirrored?.reply as Message | undefined)?.content;
  const asked = body.messages.filter((m) => m.role === "user").length - 1;
  const answered = body.messages.filter((m) => m.role === "assistant").length;
  let reply = scriptOf(body.model)[body.model === "silent" ? asked : answered];
  if (content) {
    const blocks = typeof content === "string" ? [text(content)] : content;
    reply = { content: blocks, stop_reason: blocks.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn" };
  }
  need(reply, "the script has ended");
  return {
    id: "msg_1", type: "message", role: "assistant", model: body.model, stop_sequence: null, container: null,
    diagnostics: null, stop_details: null, usage, ...reply,
  };
}

function startOf(block: ContentBlock): ContentBlock {
  if (block.type === "text") return { ...block, text: "", citations: null };
  if (block.type === "thinking") return { ...block, thinking: "", signature: "" };
  return block.type === "tool_use" || block.type === "server_tool_use" ? { ...block, input: {} } : block;
}

function* deltasOf(block: ContentBlock): Generator<RawContentBlockDelta> {
  if (block.type === "text") {
    for (const piece of pieces(block.text)) yield { type: "text_delta", text: piece };
    for (const one of block.citations ?? []) yield { type: "citations_delta", citation: one };
  } else if (block.type === "thinking") {
    for (const piece of pieces(block.thinking)) yield { type: "thinking_delta", thinking: piece };
    yield { type: "signature_delta", signature: block.signature };
  } else if (block.type === "tool_use" || block.type === "server_tool_use") {
    const json = JSON.stringify(block.input);
    yield { type: "input_json_delta", partial_json: "" };
    if (json === "{}") return;
    for (const piece of pieces(json)) yield { type: "input_json_delta", partial_json: piece };
  }
}

export function* eventsOf(reply: Message): Generator<RawMessageStreamEvent> {
  const begun: Usage = { ...usage, output_tokens: 1, output_tokens_details: null };
  yield { type: "message_start", message: { ...reply, content: [], stop_reason: null, stop_details: null, usage: begun } };
  for (const [index, block] of reply.content.entries()) {
    yield { type: "content_block_start", index, content_block: startOf(block) };
    for (const delta of deltasOf(block)) yield { type: "content_block_delta", index, delta };
    yield { type: "content_block_stop", index };
  }
  const { stop_reason, stop_sequence, stop_details, container } = reply;
  yield {
    type: "message_delta", delta: { stop_reason, stop_sequence, stop_details, container },
    usage: { input_tokens: 20, output_tokens: 20, cache_read_input_tokens: 64, cache_creation_input_tokens: 16,
      output_tokens_details: { thinking_tokens: 8 }, server_tool_use: null },
  };
  yield { type: "message_stop" };
}
