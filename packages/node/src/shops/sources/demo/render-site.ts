import { escapeMarkup } from '@assay/protocol/escape-markup'
import type { DemoArticle, DemoSite } from './site.ts'

export type RenderedFile = { contentType: string; body: string }

const day = 86_400_000
const ccBy = 'https://creativecommons.org/licenses/by/4.0/'

/** All files of a site by path. `startMs` is what ages are counted from. */
export function renderSite(site: DemoSite, startMs: number): Map<string, RenderedFile> {
  const origin = `http://${site.domain}`
  const { care } = site
  const dateOf = (article: DemoArticle) => new Date(startMs - article.ageDays * day).toISOString().slice(0, 10)
  const files = new Map<string, RenderedFile>()
  const html = (shown: DemoPage) =>
    files.set(shown.path, { contentType: 'text/html; charset=utf-8', body: page(site, origin, shown) })

  html({
    path: '/',
    title: site.name,
    body: `<h1>${escapeMarkup(site.name)}</h1><p>${escapeMarkup(site.about)} All of this is made up for a demonstration.</p><ul>${site.articles.map((article) => `<li><a href="/${article.slug}">${escapeMarkup(article.title)}</a></li>`).join('')}</ul>`,
  })
  for (const article of site.articles)
    html({
      path: `/${article.slug}`,
      title: article.title,
      head: articleHead(site, article, dateOf(article)),
      body: articleBody(article),
    })
  if (care.policies) {
    html({
      path: '/corrections',
      title: 'Corrections',
      body: '<h1>Corrections</h1><p>Mistakes are corrected in place, with the date and the old wording kept below the article.</p>',
    })
    html({
      path: '/editorial-standards',
      title: 'Editorial standards',
      body: '<h1>Editorial standards</h1><p>Authors name their sources, and nobody writes about what they hold.</p>',
    })
  }
  if (care.contact)
    html({
      path: '/contact',
      title: 'Contact',
      body: `<h1>Contact</h1><p>Write to <a href="mailto:desk@${site.domain}">the desk</a>.</p>`,
    })
  if (care.sitemap) files.set('/sitemap.xml', { contentType: 'application/xml', body: sitemap(site, origin, dateOf) })
  if (care.llms)
    files.set('/llms.txt', {
      contentType: 'text/plain; charset=utf-8',
      body: `# ${site.name}\n\n> ${site.about}\n\n${site.articles.map((article) => `- [${article.title}](/${article.slug})`).join('\n')}\n`,
    })
  if (care.licence === 'rsl') files.set('/license.xml', { contentType: 'application/rsl+xml', body: rsl(origin) })
  files.set('/robots.txt', { contentType: 'text/plain', body: robots(site, origin) })
  return files
}

/** `head` and `body` are markup. */
type DemoPage = { path: string; title: string; head?: string; body: string }

function page(site: DemoSite, origin: string, { path, title, head = '', body }: DemoPage): string {
  const { care } = site
  const policies = care.policies
    ? '<a href="/corrections">Corrections policy</a> <a href="/editorial-standards">Editorial standards</a>'
    : ''
  const contact = care.contact ? '<a href="/contact">Contact</a>' : ''
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeMarkup(title)}</title>
${care.canonical ? `<link rel="canonical" href="${origin}${path}">` : ''}${care.licence === 'cc-by' ? `<link rel="license" href="${ccBy}">` : ''}${care.licence === 'custom' ? '<link rel="license" href="/terms">' : ''}
<!--proof-->${care.authors ? `<meta property="og:site_name" content="${escapeMarkup(site.name)}">` : ''}${head}</head>
<body><nav><a href="/">Home</a> ${policies} ${contact}</nav><main><article>${body}</article></main><footer>${escapeMarkup(site.name)}, a demonstration site with invented content</footer></body></html>`
}

function articleHead(site: DemoSite, article: DemoArticle, date: string): string {
  const { care } = site
  const author = care.authors ? `<meta name="author" content="${escapeMarkup(article.author)}">` : ''
  const published = care.dates ? `<meta property="article:published_time" content="${date}">` : ''
  const linked = {
    '@context': 'https://schema.org',
    '@type': 'Article',
    headline: article.title,
    author: { '@type': 'Person', name: article.author },
    publisher: { '@type': 'Organization', name: site.name },
    datePublished: date,
    dateModified: date,
    citation: article.cites,
    isAccessibleForFree: true,
  }
  return `${author}${published}${care.jsonLd ? `<script type="application/ld+json">${JSON.stringify(linked).replace(/</g, '\\u003c')}</script>` : ''}`
}

function articleBody(article: DemoArticle): string {
  const sources = article.cites
    .map((url) => `<li><a href="${escapeMarkup(url)}">${escapeMarkup(url)}</a></li>`)
    .join('')
  return `<h1>${escapeMarkup(article.title)}</h1>${article.paragraphs.map((text) => `<p>${escapeMarkup(text)}</p>`).join('')}${sources === '' ? '' : `<h2>Sources</h2><ol>${sources}</ol>`}`
}

function sitemap(site: DemoSite, origin: string, dateOf: (article: DemoArticle) => string): string {
  const urls = site.articles.map(
    (article) => `<url><loc>${origin}/${article.slug}</loc><lastmod>${dateOf(article)}</lastmod></url>`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('')}</urlset>`
}

const rsl = (origin: string) =>
  `<?xml version="1.0"?><rsl xmlns="https://rslstandard.org/rsl"><content url="${origin}/"><license><permits type="usage">search ai-input</permits><prohibits type="usage">ai-train</prohibits><payment type="use"><amount currency="USD">0.005</amount></payment></license></content></rsl>`

function robots(site: DemoSite, origin: string): string {
  const licence = site.care.licence === 'rsl' ? `License: ${origin}/license.xml\n` : ''
  return `User-agent: *\nDisallow: /private/\n${site.care.sitemap ? `Sitemap: ${origin}/sitemap.xml\n` : ''}${licence}`
}
