import { serve } from '@hono/node-server'
import { openTill } from '../open-till.ts'
import { makeApp } from './app.ts'

const port = 3006
const till = await openTill(`http://127.0.0.1:${port}`)
const articles = new Map([['bread', { title: 'Bread', text: 'Flour, water, salt and time.' }]])
serve({ fetch: makeApp(till, articles).fetch, port })
console.log(`people read ${till.origin}/articles/bread, crawlers pay for it`)
