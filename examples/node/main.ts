import { openTill } from '../open-till.ts'
import { makeServer } from './app.ts'

const port = 3003
const till = await openTill(`http://127.0.0.1:${port}`)
makeServer(till).listen(port)
console.log(`selling at ${till.origin}/weather/rome`)
