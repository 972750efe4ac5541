// OpenAI's agents for Node: one answer over the Realtime interface.
//
//     node agents_node.mjs BASE_URL

import { createRequire } from "node:module";

const require = createRequire(`${process.env.NODE_PATH}/`);
const { RealtimeAgent, RealtimeSession, OpenAIRealtimeWebSocket } = require("@openai/agents-realtime");

const base = process.argv[2].replace("http", "ws");
const transport = new OpenAIRealtimeWebSocket({ url: `${base}/realtime?model=rubato` });
const agent = new RealtimeAgent({ name: "rubato", instructions: "Be brief." });
const session = new RealtimeSession(agent, { transport, model: "rubato" });
let sound = 0;
session.on("audio", (event) => (sound += event.data.byteLength));
session.on("error", (event) => {
  console.error(JSON.stringify(event));
  process.exit(1);
});
session.on("agent_end", (context, agent, said) => {
  console.log(JSON.stringify({ sound, said }));
  process.exit(0);
});
await session.connect({ apiKey: "none" });
session.sendMessage("what time is it");
