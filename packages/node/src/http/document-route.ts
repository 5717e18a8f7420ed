import { z } from 'zod'
import { defineRoute, type RouteDeclaration } from './route.ts'

export type DocumentRoute = {
  id: string
  path: string
  summary: string
  /** The first is the default; the same bytes are given under each. */
  mediaTypes: readonly string[]
  next?: string
  hidden?: boolean
  main?: boolean
  mcp?: RouteDeclaration['mcp']
  royalty?: boolean
  headers?: Record<string, string>
  exampleOutput: unknown
  query?: RouteDeclaration['query']
  /** `authority` is the name of this node that was asked, one of those configured. */
  write(authority: string, query: Record<string, unknown>): string
  /** The same thing for people, given to those who prefer text/html to every other form. */
  page?(): Promise<{ body: string; headers: Record<string, string> }>
}

const html = 'text/html; charset=utf-8'

/** A free document that depends on nothing but its URL. */
export function documentRoute(document: DocumentRoute): RouteDeclaration {
  const { id, path, summary, mediaTypes, headers, page } = document
  return defineRoute({
    id,
    area: 'core',
    method: 'GET',
    path,
    summary,
    ...(document.query === undefined ? {} : { query: document.query }),
    representations: page === undefined ? mediaTypes : [...mediaTypes, html],
    output: typeof document.exampleOutput === 'string' ? z.string() : z.record(z.string(), z.unknown()),
    example: { output: document.exampleOutput },
    next: document.next ?? '/',
    cacheSeconds: 5,
    ...(document.hidden ? { hidden: true } : {}),
    ...(document.main ? { main: true } : {}),
    ...(document.mcp === undefined ? {} : { mcp: document.mcp }),
    ...(document.royalty ? { royalty: true } : {}),
    access: {
      kind: 'free',
      handle: async ({ query }, call) => ({
        status: 200,
        contentType: call.representation,
        ...(page !== undefined && call.representation === html
          ? await page()
          : {
              body: document.write(call.received.authority, (query ?? {}) as Record<string, unknown>),
              ...(headers === undefined ? {} : { headers }),
            }),
      }),
    },
  })
}
