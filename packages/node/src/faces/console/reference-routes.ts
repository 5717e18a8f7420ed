import { z } from 'zod'
import { defineRoute, type RouteDeclaration } from '../../http/index.ts'
import type { Assets } from './assets.ts'
import { type PageOrigins, referenceHeaders, referencePage } from './page.ts'

const html = 'text/html; charset=utf-8'

/** The API to read and try, for people: its script is loaded here and nowhere else. */
export function referenceRoutes(load: () => Promise<Assets>, origins: PageOrigins): RouteDeclaration[] {
  const shared = { area: 'core', method: 'GET', next: '/openapi.json', hidden: true } as const
  return [
    defineRoute({
      ...shared,
      id: 'console.reference',
      path: '/reference',
      summary: 'The API to read and try',
      representations: [html],
      output: z.string(),
      example: { output: '<!doctype html>' },
      access: {
        kind: 'free',
        handle: async () => ({
          status: 200,
          contentType: html,
          body: referencePage(await load()),
          headers: referenceHeaders(origins),
        }),
      },
    }),
    defineRoute({
      ...shared,
      id: 'console.docs',
      path: '/docs',
      summary: 'Leads to the reference',
      representations: [html],
      output: z.string(),
      example: { output: '' },
      access: {
        kind: 'free',
        handle: async () => ({ status: 308, contentType: html, body: '', headers: { Location: '/reference' } }),
      },
    }),
  ]
}
