// Conversations through the SDK of Google.

import { FunctionCallingConfigMode, GoogleGenAI } from '@google/genai'

import { note, refused } from './transcript.mjs'

const model = 'gemini-2.5-pro'
const parametersJsonSchema = { type: 'object', properties: { city: { type: 'string' } } }
const tools = [{ functionDeclarations: [{ name: 'get_weather', description: 'Returns the weather.', parametersJsonSchema }] }]

export async function run() {
  const client = new GoogleGenAI({ apiKey: 'google-secret' })
  await talk(client)
  await withTools(client)
  await errors(client)
  await canceled(client)
  await together(client)
}

/** Returns an answer without the headers of the connection. */
function received(answer) {
  const { sdkHttpResponse, ...rest } = answer
  const kept = ['content-type', 'request-id']
  const entries = Object.entries(sdkHttpResponse?.headers ?? {})
  return { ...rest, headers: Object.fromEntries(entries.filter(([name]) => kept.includes(name))) }
}

async function pieces(stream) {
  const all = []
  for await (const piece of await stream) all.push(received(piece))
  return all
}

async function talk(client) {
  const config = { systemInstruction: 'You are a weather bot.', temperature: 0.5, seed: 7 }
  const chat = client.chats.create({ model, config })
  for (const message of ['Will it rain in Oslo?', 'And tomorrow – “really”? 🌧']) {
    note('google talk', received(await chat.sendMessage({ message })))
  }
  note('google stream', await pieces(chat.sendMessageStream({ message: 'Tell me a story, word by word.' })))
  note('google history', chat.getHistory())
}

async function withTools(client) {
  const toolConfig = { functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO } }
  const contents = [{ role: 'user', parts: [{ text: 'Please use the tool for Oslo.' }] }]
  const answer = await client.models.generateContent({ model, contents, config: { tools, toolConfig } })
  note('google tool call', received(answer))
  contents.push(answer.candidates[0].content)
  const functionResponse = { name: 'get_weather', response: { output: 'rain from 14:00' } }
  contents.push({ role: 'user', parts: [{ functionResponse }] })
  note('google tool result', received(await client.models.generateContent({ model, contents, config: { tools } })))
  const events = client.models.generateContentStream({ model, contents: 'use the tool', config: { tools } })
  note('google tool events', await pieces(events))
}

async function errors(client) {
  const say = (contents) => refused(async () => received(await client.models.generateContent({ model, contents })))
  note('google bad request', await say('This is a bad request.'))
  note('google limit', await say('Over the limit.'))
  note('google failed', await say('Please fail once.'))
  note('google again', await say('Please fail once.'))
  const contents = 'Please break off in the middle.'
  note('google broken', await refused(() => pieces(client.models.generateContentStream({ model, contents }))))
}

async function canceled(client) {
  const abort = new AbortController()
  const contents = 'Answer slowly so that I can leave before the end of it.'
  const config = { abortSignal: abort.signal }
  let count = 0
  const aborted = refused(async () => {
    for await (const piece of await client.models.generateContentStream({ model, contents, config })) {
      note('google canceled', received(piece))
      if (++count === 5) abort.abort()
    }
  })
  note('google aborted', (await aborted).type ?? 'no error')
}

async function together(client) {
  const one = async (number) => {
    const chat = client.chats.create({ model })
    for (let turn = 0; turn < 3; turn++) {
      await pieces(chat.sendMessageStream({ message: `Conversation ${number}, turn ${turn}.` }))
    }
    return chat.getHistory()
  }
  for (const conversation of await Promise.all([0, 1, 2, 3].map(one))) note('google together', conversation)
}
