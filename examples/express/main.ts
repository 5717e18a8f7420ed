import { openTill } from '../open-till.ts'
import { makeApp } from './app.ts'

const port = 3002
const till = await openTill(`http://127.0.0.1:${port}`)
makeApp(till).listen(port)
console.log(`selling at ${till.origin}/weather/rome`)
