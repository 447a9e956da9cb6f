// The rows of bench/chain.py with npm `langchain`: its context editing, or its summarization with a trigger that is
// never reached, or with a model that answers at once. `sync` is `undue`: its middlewares work on the host's own list.
// Usage: node langchain.mjs editing|summarization undue|sync|clear|session|summary N
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ClearToolUsesEdit, countTokensApproximately, summarizationMiddleware } from "langchain";

const RESULT = "x".repeat(2500);
const NEVER = 1e12;
const SUMMARY = "The user asked to go. src/main.cpp was read in every step and nothing was changed. Next: answer.";
const [middleware, row, size] = process.argv.slice(2);
const n = Number(size);

function pushRound(messages) {
  const id = `call_${messages.length}`;
  messages.push(new AIMessage({ content: "", tool_calls: [{ id, name: "read", args: { path: "src/main.cpp" } }] }));
  messages.push(new ToolMessage({ tool_call_id: id, name: "read", content: RESULT }));
}

function historyOf(count) {
  const messages = [new HumanMessage("go")];
  while (messages.length < count) pushRound(messages);
  return messages;
}

let asked = 0; // when the model was
const model = {
  invoke: async () => {
    asked = cpuSeconds();
    return { content: SUMMARY };
  },
};

function hookOf(trigger) {
  if (middleware === "editing") {
    const edit = new ClearToolUsesEdit({ trigger: { tokens: trigger }, keep: { messages: 3 } });
    return (messages) => edit.apply({ messages, model: {}, countTokens: countTokensApproximately });
  }
  const hook = summarizationMiddleware({ model, trigger: { tokens: trigger } }).beforeModel;
  const run = typeof hook === "function" ? hook : hook.hook;
  return (messages) => run({ messages }, { context: {} });
}

// Of the processor.
function cpuSeconds() {
  const used = process.cpuUsage();
  return (used.user + used.system) / 1e6;
}

async function secondsOf(work) {
  const start = cpuSeconds();
  await work();
  return cpuSeconds() - start;
}

const clearedIn = (messages) =>
  messages.filter((m) => ToolMessage.isInstance(m) && m.content.length < RESULT.length / 2).length;

// Each step is on a history of the same size.
async function undue() {
  const hook = hookOf(NEVER);
  const messages = historyOf(n);
  const size = messages.length;
  await hook(messages); // as the others had a run before
  const steps = n > 1000 ? 5 : 20;
  const seconds = await secondsOf(async () => {
    for (let i = 0; i < steps; ++i) {
      messages.length = size;
      pushRound(messages);
      await hook(messages);
    }
  });
  return { seconds: seconds / steps, check: clearedIn(messages) };
}

async function clear() {
  const hook = hookOf(1000);
  const messages = historyOf(n);
  return { seconds: await secondsOf(() => hook(messages)), check: clearedIn(messages) };
}

async function session() {
  const hook = hookOf(NEVER);
  const messages = [new HumanMessage("go")];
  const seconds = await secondsOf(async () => {
    for (let i = 0; i < n; ++i) {
      pushRound(messages);
      await hook(messages);
    }
  });
  return { seconds, check: clearedIn(messages) };
}

// The check is the number of summaries in place of a history that was longer.
async function summary() {
  const hook = hookOf(100_000);
  const messages = historyOf(n);
  const start = cpuSeconds();
  const update = await hook(messages);
  const seconds = cpuSeconds() - start;
  const after = update?.messages ?? messages;
  const isShorter = after.length < messages.length;
  const summaries = after.filter((m) => typeof m.content === "string" && m.content.includes(SUMMARY)).length;
  return { seconds, check: isShorter ? summaries : 0, seconds_to_request: asked - start };
}

// The host's list and the middleware's are one: nothing can differ.
const sync = async () => ({ ...(await undue()), check: 0 });

const result = await { undue, sync, clear, session, summary }[row]();
console.log(JSON.stringify({ row, n, ...result }));
