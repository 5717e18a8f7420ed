import { serve } from '@hono/node-server'
import { openTill } from '../open-till.ts'
import { makeApp } from './app.ts'

const port = 3001
const till = await openTill(`http://127.0.0.1:${port}`)
serve({ fetch: makeApp(till).fetch, port })
console.log(`selling at ${till.origin}/weather/rome`)
