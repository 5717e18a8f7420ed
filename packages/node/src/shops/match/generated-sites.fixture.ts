import { gzipSync } from 'node:zlib'
import { makePdf } from '../make-pdf.ts'
import type { SourceWorld } from '../sources/sources.fixture.ts'

/** A page that should be found, and by which question. */
export type AskedPage = { question: string; url: string; difficulty: string }

export type GeneratedSites = {
  domains: string[]
  asked: AskedPage[]
  /** Questions that no page answers: things that do not exist, and pages that may not be offered. */
  unanswered: { question: string; why: string }[]
  /** Addresses that must never be offered. */
  forbidden: Set<string>
}

const starts = 'bar cal dor fen gal har jor kel lam mor nor pel quin ras sol tam ul var wen zor'.split(' ')
const middles = 'a e i o u ae io ur en is'.split(' ')
const ends = 'bek dal fin gorn hult kin lund mar nov pek rud stad tov vik wick xen yard zim brook fell'.split(' ')
const subjects = 'mill bridge harbour library orchard observatory brewery quarry theatre lighthouse school ferry'.split(
  ' ',
)
const wordStock =
  'stone river winter council record trade family timber copper wheat road market guild storm repair cellar tower charter harvest rope salt wool barge lantern ledger'.split(
    ' ',
  )

/** The same name for the same number, and no other for another. */
function nameOf(n: number): string {
  const pick = (list: readonly string[], by: number) => list[Math.floor(n / by) % list.length] as string
  const word = `${pick(starts, 1)}${pick(middles, 20)}${pick(ends, 200)}`
  const tail = n >= 4_000 ? `${pick(starts, 4_000)}${pick(middles, 7)}` : ''
  return `${word[0]?.toUpperCase()}${word.slice(1)}${tail}`
}

function proseOf(n: number, accented: string): { title: string; text: string } {
  const [name, subject] = [`${nameOf(n)}${accented}`, subjects[n % subjects.length] as string]
  const words = Array.from(
    { length: 60 },
    (_, at) => wordStock[(n * 31 + at * at * 7 + at * (n % 13)) % wordStock.length],
  )
  const sentences = [0, 15, 30, 45].map((from) => `The ${subject} kept its ${words.slice(from, from + 15).join(' ')}.`)
  return {
    title: `The ${subject} of ${name}`,
    text: `The ${subject} of ${name} was founded in ${1500 + (n % 400)} by ${nameOf(n + 77_777)}. ${sentences.join(' ')} It remains to this day near ${nameOf(n + 55_555)}.`,
  }
}

type Prose = ReturnType<typeof proseOf>
const html = ({ title, text }: Prose, head = '', rest = '') =>
  `<html><head><title>${title}</title>${head}</head><body><nav><a href="/">Home</a></nav><article><h1>${title}</h1><p>${text}</p></article>${rest}</body></html>`

type Site = { domain: string; first: number; count: number; world: SourceWorld; out: GeneratedSites }
const urlOf = ({ domain }: Site, at: number) => `https://${domain}/p${at}`
const questionOf = ({ title }: Prose) => `When was ${title.toLowerCase()} founded, and by whom?`

/** All pages of a site, by the way in which it is hard to read. */
const kinds: Readonly<Record<string, (site: Site) => void>> = {
  'sitemap, compressed': (site) => {
    list(site, (url, prose) => site.world.web.set(url, html(prose)))
    const urls = Array.from({ length: site.count }, (_, at) => `<url><loc>${urlOf(site, at)}</loc></url>`).join('')
    site.world.web.set(`https://${site.domain}/robots.txt`, `Sitemap: https://${site.domain}/map.xml.gz\n`)
    site.world.web.set(`https://${site.domain}/map.xml.gz`, () => ({
      bytes: gzipSync(`<urlset>${urls}</urlset>`),
      headers: { 'content-type': 'application/gzip' },
    }))
  },
  'www in its sitemap': (site) => {
    list(site, (url, prose) => site.world.web.set(url, html(prose)))
    const urls = Array.from(
      { length: site.count },
      (_, at) => `<url><loc>https://www.${site.domain}/p${at}</loc></url>`,
    ).join('')
    site.world.web.set(`https://${site.domain}/sitemap.xml`, `<urlset>${urls}</urlset>`)
  },
  'feed only': (site) => {
    list(site, (url, prose) => site.world.web.set(url, html(prose)))
    const items = Array.from({ length: site.count }, (_, at) => `<item><link>${urlOf(site, at)}</link></item>`).join('')
    site.world.web.set(
      `https://${site.domain}/`,
      html(
        { title: 'Home', text: 'Nothing here but a feed.' },
        '<link rel="alternate" type="application/rss+xml" href="/feed.xml">',
      ),
    )
    site.world.web.set(`https://${site.domain}/feed.xml`, `<rss><channel>${items}</channel></rss>`)
  },
  'windows-1252 by header': (site) => {
    list(
      site,
      (url, prose) =>
        site.world.web.set(url, () => ({
          bytes: Buffer.from(html(prose), 'latin1'),
          headers: { 'content-type': 'text/html; charset=windows-1252' },
        })),
      'é',
    )
    linked(site)
  },
  'UTF-16 by byte order mark': (site) => {
    list(
      site,
      (url, prose) => site.world.web.set(url, () => ({ bytes: Buffer.from(`\ufeff${html(prose)}`, 'utf16le') })),
      'ø',
    )
    linked(site)
  },
  'text in JSON-LD alone': (site) => {
    list(site, (url, prose) => {
      const article = JSON.stringify({ '@type': 'Article', headline: prose.title, articleBody: prose.text })
      site.world.web.set(
        url,
        `<title>${prose.title}</title><div id="root"></div><script src="/a.js"></script><script type="application/ld+json">${article}</script>`,
      )
    })
    linked(site)
  },
  'duplicates with parameters, and a translation': (site) => {
    list(site, (url, prose) => {
      const head = `<link rel="canonical" href="${url}"><link rel="alternate" hreflang="de" href="${url}-de"><link rel="alternate" hreflang="en" href="${url}">`
      site.world.web.set(url, html(prose, head, `<a href="${url}?utm_source=mail">again</a>`))
      site.world.web.set(`${url}?utm_source=mail`, html(prose, head))
    })
    linked(site)
  },
  'needs JavaScript': (site) => {
    each(site, (url, prose) => {
      site.world.web.set(url, `<title>App</title><div id="root"></div><script src="/app.js"></script>`)
      site.out.unanswered.push({ question: questionOf(prose), why: 'needs JavaScript' })
    })
    linked(site)
  },
  'robots.txt and RSL forbid': (site) => {
    each(site, (url, prose) => {
      site.world.web.set(url, html(prose))
      site.out.forbidden.add(url)
      site.out.unanswered.push({ question: questionOf(prose), why: 'forbidden' })
    })
    linked(site)
    const [blocked, licensed] = ['User-agent: *\nDisallow: /p', `License: https://${site.domain}/rsl.xml`]
    site.world.web.set(`https://${site.domain}/robots.txt`, site.first % 2 === 0 ? blocked : licensed)
    site.world.web.set(
      `https://${site.domain}/rsl.xml`,
      '<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license><prohibits type="usage">all</prohibits></license></content></rsl>',
    )
  },
  'noindex on its pages': (site) => {
    each(site, (url, prose) => {
      site.world.web.set(url, html(prose, '<meta name="robots" content="noindex">'))
      site.out.forbidden.add(url)
      site.out.unanswered.push({ question: questionOf(prose), why: 'forbidden' })
    })
    linked(site)
  },
}

function each(site: Site, put: (url: string, prose: Prose) => void, accented = ''): void {
  for (let at = 0; at < site.count; at += 1) put(urlOf(site, at), proseOf(site.first + at, accented))
}

function list(site: Site, put: (url: string, prose: Prose) => void, accented = ''): void {
  const difficulty = Object.keys(kinds)[Math.floor(site.first / site.count) % Object.keys(kinds).length] as string
  each(
    site,
    (url, prose) => {
      put(url, prose)
      site.out.asked.push({ question: questionOf(prose), url, difficulty })
    },
    accented,
  )
}

const linked = (site: Site) =>
  site.world.web.set(
    `https://${site.domain}/`,
    html(
      { title: 'Home', text: 'All articles of this site.' },
      '',
      Array.from({ length: site.count }, (_, at) => `<a href="/p${at}">${at}</a>`).join(' '),
    ),
  )

/** Sites of ten kinds in turn with `pages` pages in all, some of them PDF, and scrapers that copy others. */
export async function generateSites(world: SourceWorld, pages: number, perSite: number): Promise<GeneratedSites> {
  const out: GeneratedSites = { domains: [], asked: [], unanswered: [], forbidden: new Set() }
  const makers = Object.values(kinds)
  const sites = Math.max(makers.length, Math.round(pages / perSite))
  for (let n = 0; n < sites; n += 1) {
    const site: Site = { domain: `site${n}.com`, first: n * perSite, count: perSite, world, out }
    out.domains.push(site.domain)
    makers[n % makers.length]?.(site)
    if (n % makers.length === 0) await addPdf(site)
    if (n % makers.length === 1) addScraper(site)
  }
  for (let n = 0; n < 40; n += 1)
    out.unanswered.push({ question: questionOf(proseOf(900_000 + n * 13, 'q')), why: 'nobody wrote about it' })
  return out
}

async function addPdf(site: Site): Promise<void> {
  const prose = proseOf(600_000 + site.first, '')
  const bytes = await makePdf(prose.title, new Date('2026-01-01T00:00:00Z'), (pdf) => pdf.text(prose.text))
  const url = urlOf(site, 0)
  site.world.web.set(`${url}.pdf`, () => ({ bytes, headers: { 'content-type': 'application/pdf' } }))
  site.world.web.set(url, html(proseOf(site.first, ''), '', `<a href="${url}.pdf">PDF</a>`))
  site.out.asked.push({ question: questionOf(prose), url: `${url}.pdf`, difficulty: 'PDF' })
}

/** Another domain with the same texts, which says where they are from. */
function addScraper(site: Site): void {
  const domain = `copy-of-${site.domain}`
  site.out.domains.push(domain)
  for (let at = 0; at < site.count; at += 1)
    site.world.web.set(
      `https://${domain}/p${at}`,
      html(proseOf(site.first + at, ''), `<link rel="canonical" href="${urlOf(site, at)}">`),
    )
  linked({ ...site, domain })
}
