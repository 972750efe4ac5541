// OpenAI's client for Node: speech and a recording. (Its Realtime client speaks TLS only.)
//
//     node openai_node.mjs BASE_URL QUESTION.wav

import fs from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.NODE_PATH}/`);
const { OpenAI } = require("openai");

const [base, question] = process.argv.slice(2);
const client = new OpenAI({ baseURL: base, apiKey: "none" });
const speech = await client.audio.speech.create({
  model: "tts-1",
  voice: "Alan",
  input: "The boat left the harbour at ten past seven.",
});
const bytes = (await speech.arrayBuffer()).byteLength;
const heard = await client.audio.transcriptions.create({
  model: "whisper-1",
  file: fs.createReadStream(question),
});
console.log(JSON.stringify({ bytes, heard: heard.text }));
