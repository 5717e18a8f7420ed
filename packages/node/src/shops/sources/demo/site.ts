/** A small site of the demo, described; `render-site.ts` makes its files. */
export type DemoSite = {
  domain: string
  name: string
  about: string
  /** How it proves itself. */
  proof: 'dns' | 'file' | 'meta'
  /** What a careful publisher does, and a careless one leaves out. */
  care: {
    jsonLd: boolean
    authors: boolean
    dates: boolean
    canonical: boolean
    sitemap: boolean
    llms: boolean
    policies: boolean
    contact: boolean
    licence: 'rsl' | 'cc-by' | 'custom' | 'none'
  }
  articles: readonly DemoArticle[]
}

export type DemoArticle = {
  slug: string
  title: string
  author: string
  /** Days before the start of the demo. */
  ageDays: number
  /** Addresses it cites, other demo sites mostly. */
  cites: readonly string[]
  paragraphs: readonly string[]
}
