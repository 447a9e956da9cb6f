// node main.js CLIENT MIRROR: serves both APIs to CLIENT (a program of ours that takes the address from
// WHITTLE_SDK_STUB), then to the official clients. MIRROR: a file with replies that our serialisers wrote.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readAll } from "./clients.js";
import type { Mirrored } from "./need.js";
import { listen } from "./server.js";

const [client, mirrorFile] = process.argv.slice(2);
if (!client || !mirrorFile) throw new Error("usage: main.js CLIENT MIRROR");
const replies = JSON.parse(readFileSync(mirrorFile, "utf8")) as Mirrored[];
if (replies.length === 0) throw new Error("nothing to mirror");

const { server, address } = await listen(new Map(replies.map((one) => [one.name, one])));
const child = spawn(client, [], { stdio: "inherit", env: { ...process.env, WHITTLE_SDK_STUB: address } });
const [code] = (await once(child, "exit")) as [number | null];
if (code === 0) {
  const read = await readAll(address, replies);
  console.log(`sdk_types: the official clients read ${read} replies of ours, each whole and streamed`);
}
server.close();
server.closeAllConnections();
process.exitCode = code ?? 1;
