import type { IncomingMessage, ServerResponse } from 'node:http'
import { hosts } from './names.ts'

const page = (title: string, text: string) =>
  `<!doctype html><html lang="en"><head><title>${title}</title><meta name="description" content="${title}">` +
  `<link rel="license" href="https://creativecommons.org/licenses/by/4.0/"></head><body><main><h1>${title}</h1>${text
    .split('\n')
    .map((line) => `<p>${line}</p>`)
    .join('')}<p><a href="/">Home</a></p></main></body></html>`

const texts: Record<string, Record<string, string>> = {
  'pressed-herbarium.org': {
    '/drying': page(
      'Drying and pressing garden plants',
      'A flower press keeps the colour of petals when the paper is changed every day for the first week of drying.\nLandscaping and gardening records name the bed, the soil and the date on which each plant was cut.\nLabels are written in ink that does not run, because gum and moisture reach them later.',
    ),
    '/soil': page(
      'Soil for container gardening',
      'Container gardening needs a mix that drains within seconds and still holds water for a day.\nCompost makes up a third of it at most, for more of it settles and keeps air from the roots.\nGardening guides often omit that a pot loses its nutrients with every watering.',
    ),
  },
  'printed-tidetables.org': {
    '/reading': page(
      'Reading a tide table',
      'A tide table gives the height of water above chart datum and not above the sea bed.\nTwelfths describe how the rise is spread over six hours, slow at both ends and fast in the middle.\nBoating clubs print the table of the nearest port and the difference in minutes.',
    ),
  },
}

/** Two small sites. A creator proves one of them by a file. */
export function openSites() {
  const files = new Map<string, string>()
  const put = (host: string, path: string, body: string) => files.set(`${host}${path}`, body)
  for (const host of hosts.sites) {
    const pages = Object.entries(texts[host] ?? {})
    for (const [path, body] of pages) put(host, path, body)
    const links = pages.map(([path]) => `<li><a href="${path}">${path.slice(1)}</a></li>`).join('')
    put(host, '/', page(host, `Pages of this site.</p><ul>${links}</ul><p>Written by hand.`))
    put(host, '/robots.txt', `User-agent: *\nAllow: /\nSitemap: https://${host}/sitemap.xml\n`)
    const urls = pages.map(([path]) => `<url><loc>https://${host}${path}</loc></url>`).join('')
    put(host, '/sitemap.xml', `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls}</urlset>`)
  }
  return {
    put,
    answer: (host: string, request: IncomingMessage, response: ServerResponse) => {
      const path = (request.url ?? '/').split('?')[0] ?? '/'
      const body = files.get(`${host}${path}`)
      if (body === undefined) return void response.writeHead(404, { 'content-type': 'text/html' }).end('no such page')
      response.writeHead(200, { 'content-type': typeOf(path) }).end(body)
    },
  }
}

const typeOf = (path: string) =>
  path.endsWith('.json')
    ? 'application/json'
    : path.endsWith('.txt')
      ? 'text/plain; charset=utf-8'
      : path.endsWith('.xml')
        ? 'application/xml'
        : 'text/html; charset=utf-8'
