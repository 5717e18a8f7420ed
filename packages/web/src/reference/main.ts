import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import 'swagger-ui-dist/swagger-ui.css'
import './reference.css'
import { onTheme, themeNow } from '../app/theme-choice.ts'
import type { NodeIndex } from '../node/node-index.ts'
import { createPayingFetch } from './paying-fetch.ts'
import { type Language, languages, type SnippetRequest, snippetOf } from './snippets.ts'

type Operation = { 'x-payment-info'?: { price?: { amount?: string; max?: string } } }
type OpenApi = { paths: Record<string, Record<string, Operation>> }
/** What the component hands over: an immutable map. */
type Shown = { toJS(): { method?: string; url: string; headers?: Record<string, string>; body?: unknown } }

// The theme that was chosen in the console, under the name that the component gives it.
const paint = () => document.documentElement.classList.toggle('dark-mode', themeNow() === 'dark')
paint()
onTheme(paint)

const readJson = async <T>(path: string): Promise<T> =>
  (await fetch(path, { headers: { accept: 'application/json' } })).json() as Promise<T>

const [index, spec] = await Promise.all([readJson<NodeIndex>('/'), readJson<OpenApi>('/openapi/full.json')])

/** The operation of a request: templates match one segment each. */
function operationOf(method: string, url: string): Operation | undefined {
  const { pathname } = new URL(url)
  const fits = (template: string) => new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`).test(pathname)
  const path = pathname in spec.paths ? pathname : Object.keys(spec.paths).find(fits)
  return path === undefined ? undefined : spec.paths[path]?.[method.toLowerCase()]
}

const snippet = (language: Language) => (shown: Shown) => {
  const { method = 'GET', url, headers = {}, body } = shown.toJS()
  const request: SnippetRequest = { method, url, headers, ...(typeof body === 'string' ? { body } : {}) }
  const price = operationOf(method, url)?.['x-payment-info']?.price
  return snippetOf(language, request, {
    paid: price !== undefined,
    demo: index.demo !== undefined,
    maxUsd: price?.amount ?? price?.max,
  })
}

const names = Object.keys(languages) as Language[]
const payingFetch = createPayingFetch(index, document.getElementById('pay') as HTMLElement)

SwaggerUI({
  dom_id: '#reference',
  spec,
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  // The badge of an outside validator would tell it which node is read.
  validatorUrl: null,
  requestSnippetsEnabled: true,
  requestSnippets: {
    generators: Object.fromEntries(names.map((name) => [name, languages[name]])),
    defaultExpanded: true,
  },
  plugins: [{ fn: Object.fromEntries(names.map((name) => [`requestSnippetGenerator_${name}`, snippet(name)])) }],
  requestInterceptor: (request: Record<string, unknown>) => ({ ...request, userFetch: payingFetch }),
})
