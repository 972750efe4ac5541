// OpenAI's client for Node: speech, a recording, and an answer over the Realtime interface.
//
//     node openai_node.mjs BASE_URL QUESTION.wav

import fs from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.NODE_PATH}/`);
const { OpenAI } = require("openai");
const { OpenAIRealtimeWS } = require("openai/realtime/ws");

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
const link = new OpenAIRealtimeWS({ model: "rubato" }, client);
let sound = 0;
link.on("error", (error) => {
  throw error;
});
link.on("session.created", () => {
  const content = [{ type: "input_text", text: "what time is it" }];
  link.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
  link.send({ type: "response.create" });
});
link.on("response.output_audio.delta", (event) => {
  sound += Buffer.from(event.delta, "base64").length;
});
link.on("response.done", (event) => {
  const said = event.response.output[0].content[0].transcript;
  console.log(JSON.stringify({ bytes, heard: heard.text, sound, said }));
  link.close();
});
