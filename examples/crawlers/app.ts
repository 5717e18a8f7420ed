// A site that people read for free and AI crawlers pay for, at the same addresses.
import { refusal, type Till } from '@assay/till'
import { documents, sell } from '@assay/till/hono'
import { Hono } from 'hono'
import { z } from 'zod'

export type Article = { title: string; text: string }
export type Articles = ReadonlyMap<string, Article>

/** Product tokens of crawlers and agents that read for models, as their operators publish them. */
const aiCrawlers =
  /\b(?:GPTBot|ChatGPT-User|OAI-SearchBot|ClaudeBot|Claude-User|Claude-SearchBot|anthropic-ai|CCBot|PerplexityBot|Perplexity-User|Bytespider|Amazonbot|Meta-ExternalAgent|meta-externalfetcher|cohere-ai|DuckAssistBot|MistralAI-User|YouBot|Diffbot|AI2Bot|Timpibot)\b/i

/** A name can be left out: this charges those who say who they are. Keep the others out by a firewall. */
export const readsForModels = (headers: Headers): boolean =>
  aiCrawlers.test(headers.get('user-agent') ?? '') || headers.has('payment-signature')

const Slug = z.object({ slug: z.string().regex(/^[a-z0-9-]{1,80}$/) })
const Text = z.object({ title: z.string(), text: z.string() })

export function makeApp(till: Till, articles: Articles): Hono {
  const app = new Hono()
  const paid = sell(
    till,
    { id: 'articles.read', path: '/articles/:slug', price: '0.002', params: Slug, output: Text },
    async ({ params }) => {
      const article = articles.get(params.slug)
      if (!article) throw refusal(404, 'No such article.')
      return article
    },
  )
  app.get('/articles/:slug', (context, next) => (readsForModels(context.req.raw.headers) ? paid(context) : next()))
  app.get('/articles/:slug', (context) => {
    const article = articles.get(context.req.param('slug'))
    // A cache must not give people what crawlers get, or the other way round.
    context.header('vary', 'User-Agent, Payment-Signature')
    return article ? context.html(page(article)) : context.notFound()
  })
  app.get('/robots.txt', (context) => context.text(`License: ${till.origin}/rsl.xml\n`))
  app.get('/rsl.xml', (context) => context.body(licence, 200, { 'content-type': 'application/rsl+xml' }))
  documents(app, till)
  return app
}

const escaped = (text: string) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`)
const page = ({ title, text }: Article) =>
  `<!doctype html><title>${escaped(title)}</title><article><h1>${escaped(title)}</h1><p>${escaped(text)}</p></article>`

/** The same in words that crawlers read before they come: found by search, paid for by models. */
const licence = `<rsl xmlns="https://rslstandard.org/rsl"><content url="/articles/"><license>
  <permits type="usage">search</permits><payment type="crawl"><amount currency="USD">0.002</amount></payment>
</license></content></rsl>`
