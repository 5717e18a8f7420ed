import type { SellAs, SoldRoute, Till } from '../till.ts'

type NextContext = { params: Promise<Record<string, string | string[] | undefined>> }
type NextHandler = (request: Request, context: NextContext) => Promise<Response>

/**
 * A route handler: `export const GET = sell(till, { … }, handler)`. The file also says `export const dynamic =
 * 'force-dynamic'` and `export const runtime = 'nodejs'`: answers are never cached, and the database needs TCP.
 * Neither hang-up nor delivery is seen here.
 */
export const sell: SellAs<NextHandler> = (till, declaration, made) => sold(till.sell(declaration, made))

/** The handler of a route that was declared before. */
export function sold(route: SoldRoute): NextHandler {
  return async (request, { params }) => {
    const given = Object.entries(await params).map(([name, value]) => [name, String(value)])
    return route(request, { params: Object.fromEntries(given) })
  }
}

/** For a catch-all route at the root: every sold route and the documents. */
export function all(till: Till): (request: Request) => Promise<Response> {
  return (request) => till.fetch(request)
}
