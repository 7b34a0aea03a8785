// Holds the same conversations through the official TypeScript SDKs, wherever their base URLs lead.

import { run as withAnthropic } from './anthropic.mjs'
import { run as withGoogle } from './google.mjs'
import { run as withOpenAI } from './openai.mjs'

await withAnthropic()
await withOpenAI()
await withGoogle()
