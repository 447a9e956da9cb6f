// The rows of bench/chain.py with npm `langchain`: its context editing, or its summarization with a trigger that is
// never reached. Usage: node langchain.mjs editing|summarization undue|clear|session N
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ClearToolUsesEdit, countTokensApproximately, summarizationMiddleware } from "langchain";

const RESULT = "x".repeat(2500);
const NEVER = 1e12;
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

function hookOf(trigger) {
  if (middleware === "editing") {
    const edit = new ClearToolUsesEdit({ trigger: { tokens: trigger }, keep: { messages: 3 } });
    return (messages) => edit.apply({ messages, model: {}, countTokens: countTokensApproximately });
  }
  const hook = summarizationMiddleware({ model: {}, trigger: { tokens: trigger } }).beforeModel;
  const run = typeof hook === "function" ? hook : hook.hook;
  return (messages) => run({ messages }, { context: {} });
}

// Of the processor.
async function secondsOf(work) {
  const start = process.cpuUsage();
  await work();
  const used = process.cpuUsage(start);
  return (used.user + used.system) / 1e6;
}

async function undue() {
  const hook = hookOf(NEVER);
  const messages = historyOf(n);
  const steps = n > 1000 ? 5 : 20;
  const seconds = await secondsOf(async () => {
    for (let i = 0; i < steps; ++i) {
      pushRound(messages);
      await hook(messages);
    }
  });
  return [seconds / steps, messages];
}

async function clear() {
  const hook = hookOf(1000);
  const messages = historyOf(n);
  return [await secondsOf(() => hook(messages)), messages];
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
  return [seconds, messages];
}

const [seconds, messages] = await { undue, clear, session }[row]();
const check = messages.filter((m) => ToolMessage.isInstance(m) && m.content.length < RESULT.length / 2).length;
console.log(JSON.stringify({ row, n, seconds, check }));
