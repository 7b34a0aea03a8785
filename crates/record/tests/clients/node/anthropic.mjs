// Conversations through the SDK of Anthropic.

import Anthropic from '@anthropic-ai/sdk'

import { all, headers, note, refused } from './transcript.mjs'

const model = 'claude-sonnet-4-5'
const tool = {
  name: 'get_weather',
  description: 'Returns the weather of a city.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const system = [{ type: 'text', text: 'You are a weather bot.', cache_control: { type: 'ephemeral' } }]

export async function run() {
  const client = new Anthropic({ apiKey: 'sk-ant-secret' })
  const ask = (messages, more = {}) => client.messages.create({ model, max_tokens: 64, messages, ...more })
  const say = (content, more) => ask([{ role: 'user', content }], more)
  await talk(client, ask, say)
  await tools(ask)
  await streams(client, ask)
  await errors(say)
  await canceled(client, say)
  await together(client)
}

async function talk(client, ask, say) {
  const messages = []
  for (const content of ['Will it rain in Oslo?', 'And tomorrow – “really”? 🌧', 'Thanks.']) {
    messages.push({ role: 'user', content })
    const answer = await ask(messages, { system, temperature: 0.5 })
    note('anthropic talk', answer)
    messages.push({ role: 'assistant', content: answer.content })
  }
  const raw = await say('raw').asResponse()
  note('anthropic raw', [raw.status, headers(raw), await raw.text()])
  note('anthropic count', await refused(() => client.messages.countTokens({ model, messages })))
}

async function tools(ask) {
  const messages = [{ role: 'user', content: 'Please use the tool for Oslo.' }]
  const answer = await ask(messages, { tools: [tool] })
  note('anthropic tool call', answer)
  messages.push({ role: 'assistant', content: answer.content })
  const call = answer.content.find((part) => part.type === 'tool_use')
  messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'rain from 14:00' }] })
  note('anthropic tool result', await ask(messages, { tools: [tool] }))
}

async function streams(client, ask) {
  const messages = [{ role: 'user', content: 'Tell me a story, word by word.' }]
  const stream = client.messages.stream({ model, max_tokens: 64, messages })
  stream.on('streamEvent', (event) => note('anthropic stream', event))
  const final = await stream.finalMessage()
  note('anthropic stream, whole', final)
  messages.push({ role: 'assistant', content: final.content })
  messages.push({ role: 'user', content: 'Use the tool, please: use the tool.' })
  note('anthropic events', await all(ask(messages, { tools: [tool], stream: true })))
}

async function errors(say) {
  note('anthropic bad request', await refused(() => say('This is a bad request.')))
  note('anthropic limit', await refused(() => say('Over the limit.')))
  note('anthropic retry', await refused(() => say('Please fail once.')))
  note('anthropic broken', await refused(() => all(say('Please break off in the middle.', { stream: true }))))
}

async function canceled(client, say) {
  const text = 'Answer slowly so that I can leave before the end of it.'
  let count = 0
  for await (const event of await say(text, { stream: true })) {
    note('anthropic canceled', event)
    if (++count === 5) break
  }
  const abort = new AbortController()
  const messages = [{ role: 'user', content: 'Answer slowly once more, and longer than I listen.' }]
  const aborted = refused(async () => {
    const stream = await client.messages.create({ model, max_tokens: 64, messages, stream: true }, { signal: abort.signal })
    for await (const event of stream) {
      if (event.type === 'content_block_delta') abort.abort()
    }
  })
  note('anthropic aborted', await aborted)
}

async function together(client) {
  const one = async (number) => {
    const messages = []
    for (let turn = 0; turn < 3; turn++) {
      messages.push({ role: 'user', content: `Conversation ${number}, turn ${turn}: answer slowly.` })
      const final = await client.messages.stream({ model, max_tokens: 64, messages }).finalMessage()
      messages.push({ role: 'assistant', content: final.content })
    }
    return messages
  }
  for (const conversation of await Promise.all([0, 1, 2, 3].map(one))) note('anthropic together', conversation)
}
