// Conversations through the SDK of OpenAI: chat completions and responses.

import OpenAI from 'openai'

import { all, headers, note, refused } from './transcript.mjs'

const model = 'gpt-5'
const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const declared = { name: 'get_weather', description: 'Returns the weather.', parameters, strict: true }
const chatTool = { type: 'function', function: declared }
const tool = { type: 'function', ...declared }

export async function run() {
  const client = new OpenAI({ apiKey: 'sk-secret' })
  const ask = (messages, more = {}) => client.chat.completions.create({ model, messages, ...more })
  const say = (content, more) => ask([{ role: 'user', content }], more)
  const respond = (input, more = {}) => client.responses.create({ model, input, ...more })
  await chat(client, ask, say)
  await chatTools(client, ask)
  await responses(client, respond)
  await errors('chat', say)
  await errors('responses', respond)
  await canceled(say, respond)
  await together(ask)
}

async function chat(client, ask, say) {
  const messages = [{ role: 'developer', content: 'You are a weather bot.' }]
  for (const content of ['Will it rain in Oslo?', 'And tomorrow – “really”? 🌧', 'Thanks.']) {
    messages.push({ role: 'user', content })
    const answer = await ask(messages, { temperature: 0.5, seed: 7 })
    note('chat talk', answer)
    messages.push(answer.choices[0].message)
  }
  const raw = await say('raw').asResponse()
  note('chat raw', [raw.status, headers(raw), await raw.text()])
  note('chat events', await all(say('Tell me a story.', { stream: true, stream_options: { include_usage: true } })))
  note('openai models', await refused(async () => (await client.models.list()).data))
}

async function chatTools(client, ask) {
  const messages = [{ role: 'user', content: 'Please use the tool for Oslo.' }]
  const answer = await ask(messages, { tools: [chatTool], parallel_tool_calls: false })
  note('chat tool call', answer)
  const { message } = answer.choices[0]
  messages.push(message, { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'rain from 14:00' })
  note('chat tool result', await ask(messages, { tools: [chatTool], parallel_tool_calls: false }))
  const runnable = { ...declared, function: () => 'sun', parse: JSON.parse }
  const runner = client.chat.completions.runTools({
    model,
    stream: true,
    messages: [{ role: 'user', content: 'Now use the tool in a loop.' }],
    tools: [{ type: 'function', function: runnable }],
  })
  runner.on('message', (message) => note('chat tool runner', message))
  note('chat tool runner, whole', await runner.finalContent())
}

async function responses(client, respond) {
  const first = await respond('Will it rain in Oslo?', { instructions: 'Be brief.' })
  note('responses first', first)
  note('responses then', await respond('And tomorrow?', { previous_response_id: first.id }))
  const items = [{ role: 'user', content: 'Please use the tool for Oslo.' }]
  const answer = await respond(items, { tools: [tool], store: false })
  note('responses tool call', answer)
  const result = { type: 'function_call_output', call_id: answer.output[0].call_id, output: 'rain from 14:00' }
  items.push(...answer.output, result)
  note('responses tool result', await respond(items, { tools: [tool], store: false }))
  const stream = client.responses.stream({ model, input: 'Tell me a story, word by word.' })
  for await (const event of stream) note('responses stream', event)
  note('responses stream, whole', await stream.finalResponse())
  note('responses events', await all(respond('use the tool', { tools: [tool], stream: true })))
}

async function errors(name, act) {
  note(`${name} bad request`, await refused(() => act('This is a bad request.')))
  note(`${name} limit`, await refused(() => act('Over the limit.')))
  note(`${name} retry`, await refused(() => act('Please fail once.')))
  note(`${name} broken`, await refused(() => all(act('Please break off in the middle.', { stream: true }))))
}

async function canceled(say, respond) {
  for (const act of [say, respond]) {
    let count = 0
    for await (const event of await act('Answer slowly so that I can leave before the end.', { stream: true })) {
      note('openai canceled', event)
      if (++count === 5) break
    }
  }
}

async function together(ask) {
  const one = async (number) => {
    const messages = []
    for (let turn = 0; turn < 3; turn++) {
      messages.push({ role: 'user', content: `Conversation ${number}, turn ${turn}.` })
      const events = await all(ask(messages, { stream: true }))
      const content = events.map((event) => event.choices[0]?.delta.content ?? '').join('')
      messages.push({ role: 'assistant', content })
    }
    return messages
  }
  for (const conversation of await Promise.all([0, 1, 2, 3].map(one))) note('chat together', conversation)
}
