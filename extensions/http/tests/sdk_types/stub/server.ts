// A server on loopback that speaks both APIs; its replies and events have the types of the official packages.
import type { MessageCreateParams, MessageTokensCount } from "@anthropic-ai/sdk/resources/messages";
import type { ChatCompletionCreateParams } from "openai/resources/chat/completions";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import * as anthropic from "./anthropic.js";
import { type Mirrored, need, Refusal } from "./need.js";
import * as openai from "./openai.js";

const countedTokens: MessageTokensCount = { input_tokens: 1234 };

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString());
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json", "x-request-id": "req_1" });
  response.end(JSON.stringify(body));
}

/** In writes of 1 to 149 bytes, so that characters and events are cut anywhere. */
async function sendText(response: ServerResponse, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  for (let at = 0, size = 1; at < bytes.length; at += size, size = ((size + 36) % 149) + 1) {
    response.write(bytes.subarray(at, at + size));
    await setImmediate();
  }
}

function beginStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "x-request-id": "req_1" });
}

async function chat(request: IncomingMessage, response: ServerResponse, mirror: Map<string, Mirrored>): Promise<void> {
  openai.checkHeaders(request.headers);
  const body = (await bodyOf(request)) as ChatCompletionCreateParams;
  openai.checkBody(body, request.headers.accept);
  const reply = openai.replyTo(body, mirror);
  const isBroken = body.model === "broken";
  if (!body.stream) return sendJson(response, isBroken ? 500 : 200, isBroken ? openai.failure : reply);
  beginStream(response);
  let text = ": keep-alive\n\n";
  for (const chunk of openai.chunksOf(reply, body.stream_options?.include_usage === true)) {
    text += `data: ${JSON.stringify(chunk)}\n\n`;
    if (isBroken) break;
  }
  text += isBroken ? `data: ${JSON.stringify(openai.failure)}\n\n` : "data: [DONE]\n\n";
  await sendText(response, text);
  response.end();
}

async function messages(request: IncomingMessage, response: ServerResponse, mirror: Map<string, Mirrored>): Promise<void> {
  anthropic.checkHeaders(request.headers);
  const body = (await bodyOf(request)) as MessageCreateParams;
  anthropic.checkBody(body, request.headers);
  const reply = anthropic.replyTo(body, mirror);
  const isBroken = body.model === "broken";
  if (!body.stream) return sendJson(response, isBroken ? 529 : 200, isBroken ? anthropic.failure : reply);
  beginStream(response);
  let text = "";
  let sent = 0;
  for (const event of anthropic.eventsOf(reply)) {
    text += `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
    if (sent === 0) text += 'event: ping\ndata: {"type": "ping"}\n\n'; // the types do not have it
    if (isBroken && ++sent === 4) break;
    if (!isBroken) ++sent;
  }
  if (isBroken) text += `event: error\ndata: ${JSON.stringify(anthropic.failure)}\n\n`;
  await sendText(response, text);
  response.end();
}

async function count(request: IncomingMessage, response: ServerResponse): Promise<void> {
  anthropic.checkHeaders(request.headers);
  anthropic.checkCount((await bodyOf(request)) as MessageCreateParams);
  sendJson(response, 200, countedTokens);
}

async function serve(request: IncomingMessage, response: ServerResponse, mirror: Map<string, Mirrored>): Promise<void> {
  const path = request.url?.split("?")[0];
  const isAnthropic = path?.startsWith("/anthropic");
  try {
    need(request.method === "POST", "only POST");
    if (path === "/openai/v1/chat/completions") await chat(request, response, mirror);
    else if (path === "/anthropic/v1/messages") await messages(request, response, mirror);
    else if (path === "/anthropic/v1/messages/count_tokens") await count(request, response);
    else throw new Refusal(404, `no such path: ${path}`);
  } catch (error) {
    const status = error instanceof Refusal ? error.status : 400;
    const message = error instanceof Error ? error.message : String(error);
    sendJson(response, status, isAnthropic ? anthropic.errorBody(message) : openai.errorBody(message));
  }
}

/** Listens on a port that the system picks; resolves with the address. */
export function listen(mirror: Map<string, Mirrored>): Promise<{ server: Server; address: string }> {
  const server = createServer((request, response) => void serve(request, response, mirror));
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address === null || typeof address === "string") throw new Error("no port");
      resolve({ server, address: `http://127.0.0.1:${address.port}` });
    });
  });
}
