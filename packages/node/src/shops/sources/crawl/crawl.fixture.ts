import { describeSource } from '../register/describe-source.ts'
import { registerSource } from '../register/register-source.ts'
import type { SourceWorld } from '../sources.fixture.ts'
import { runCrawler } from './run-crawler.ts'

export const wallet = '0x1111111111111111111111111111111111111111' as const
export const day = 86_400_000
const words = 'Running text about how short interest is collected and published. '.repeat(10)
export const page = (title: string, rest = '', head = '') =>
  `<html><head><title>${title}</title>${head}</head><body><article><p>${title}. ${words}</p></article>${rest}</body></html>`

// biome-ignore lint/suspicious/noExplicitAny: the view is checked member by member
type View = any

type PageRow = {
  url: string
  found_by: string
  http_status: number | null
  problem: string | null
  read: boolean
  change_seq: bigint | null
  etag: string | null
}

/** What tests of the crawler do with whichever world is open at the moment. */
export function crawlTools(worldNow: () => SourceWorld) {
  return {
    view: async (domain: string) => (await describeSource(worldNow().deps, domain)) as View,
    register: (domain: string) => registerSource(worldNow().deps, { domain, wallet }),
    crawl: (signal?: AbortSignal) => runCrawler(worldNow().deps, { forMs: 20_000, ...(signal ? { signal } : {}) }),
    /** A site of `count` articles that its home page links to. */
    publish: (domain: string, count: number): string[] => {
      const { web } = worldNow()
      const urls = Array.from({ length: count }, (_, n) => `https://${domain}/a${n}`)
      web.set(`https://${domain}/`, page('Home', urls.map((url) => `<a href="${url}">x</a>`).join(' ')))
      for (const url of urls) web.set(url, page(url))
      return urls
    },
    pageRows: async (domain: string) =>
      (
        await worldNow().db.database.query<PageRow>(
          'select url, found_by, http_status, problem, facts is not null as read, change_seq, etag from crawl_page where domain = $1 order by url',
          [domain],
        )
      ).rows,
  }
}
