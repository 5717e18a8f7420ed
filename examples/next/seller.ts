import { openTill } from '../open-till.ts'
import { makeHandlers } from './handlers.ts'

type Handlers = ReturnType<typeof makeHandlers>
// One till for the process: Next loads this module once for each bundle of routes.
const shared = globalThis as typeof globalThis & { handlers?: Promise<Handlers> }

/** Opened by the first request and not on import: `next build` imports the routes too, and needs no database. */
export const handler =
  <Name extends keyof Handlers>(name: Name) =>
  async (...call: Parameters<Handlers[Name]>): Promise<Response> => {
    shared.handlers ??= openTill('http://127.0.0.1:3000').then((till) => makeHandlers(till))
    const handle = (await shared.handlers)[name] as (...call: Parameters<Handlers[Name]>) => Promise<Response>
    return handle(...call)
  }
