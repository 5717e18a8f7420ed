import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// Its own process, so that serving does not count as crawling. Pages of ordinary size, each after 50 ms.
const pagesPerSite = 20
const paragraph =
  '<p>Short interest is collected twice a month and published with a delay, so a live figure is an estimate. '.repeat(3)
const article = `${paragraph}</p>`.repeat(30)

const server = createServer((request, response) => {
  const host = request.headers.host ?? ''
  const path = request.url ?? '/'
  setTimeout(() => {
    if (path === '/robots.txt') return response.setHeader('content-type', 'text/plain').end('User-agent: *\nAllow: /\n')
    if (path === '/sitemap.xml')
      return response
        .setHeader('content-type', 'application/xml')
        .end(
          `<urlset>${Array.from({ length: pagesPerSite - 1 }, (_, n) => `<url><loc>http://${host}/p${n}</loc></url>`).join('')}</urlset>`,
        )
    if (path !== '/' && !/^\/p\d+$/.test(path)) return response.writeHead(404, { 'content-type': 'text/plain' }).end()
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(`<html lang="en"><head><title>${path} of ${host}</title><link rel="canonical" href="http://${host}${path}"><meta name="author" content="A. Writer">
      <script type="application/ld+json">{"@type":"Article","author":{"name":"A. Writer"},"datePublished":"2026-01-01"}</script></head>
      <body><nav><a href="/">Home</a></nav><article><h1>${path}</h1>${article}</article></body></html>`)
  }, 50)
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
process.on('disconnect', () => process.exit(0))
