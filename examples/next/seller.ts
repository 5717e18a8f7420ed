import { openTill } from '../open-till.ts'
import { makeHandlers } from './handlers.ts'

// One till for all route files of the process.
const till = await openTill('http://127.0.0.1:3000')
export const handlers = makeHandlers(till)
