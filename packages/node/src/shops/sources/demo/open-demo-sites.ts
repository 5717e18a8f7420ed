import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Network } from '@assay/till/chain'
import type { Clock } from '@assay/till/kernel/clock'
import type { LoopbackTarget } from '../../../outbound/index.ts'
import {
  fileContent,
  metaContent,
  metaName,
  type ProofTerms,
  txtName,
  txtValue,
  wellKnownPath,
} from '../proof/instructions.ts'
import { type RenderedFile, renderSite } from './render-site.ts'
import type { DemoSite } from './site.ts'
import { carefulSites } from './sites-careful.ts'
import { plainSites } from './sites-plain.ts'

export type DemoSites = {
  list: readonly { domain: string; url: string }[]
  hosts: ReadonlyMap<string, LoopbackTarget>
  /** Puts the values of a claim where the site proves itself. */
  publish(terms: ProofTerms): void
  txtRecords(name: string): readonly string[]
  stop(): Promise<void>
}

/** Real HTTP sites on one loopback port, distinguished by their Host header; the crawler meets them like any other. */
export async function openDemoSites(options: { base: Network; clock: Clock }): Promise<DemoSites> {
  const sites = new Map(
    [...carefulSites, ...plainSites].map((site) => [
      site.domain,
      { site, files: renderSite(site, options.clock.nowMs()) },
    ]),
  )
  const published = new Map<string, ProofTerms>()
  const server = createServer((request, response) => {
    const host = (request.headers.host ?? '').split(':')[0] ?? ''
    const found = sites.get(host)
    const path = (request.url ?? '/').split('?')[0] ?? '/'
    const file = found && fileOf(options.base, found, published.get(host), path)
    response.statusCode = file ? 200 : 404
    response.setHeader('content-type', file?.contentType ?? 'text/plain')
    response.end(file?.body ?? 'no such page')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  const { port } = server.address() as AddressInfo
  return {
    list: [...sites.keys()].map((domain) => ({ domain, url: `http://${domain}/` })),
    hosts: new Map([...sites.keys()].map((domain) => [domain, { address: '127.0.0.1', port }])),
    publish: (terms) => void published.set(terms.domain, terms),
    txtRecords: (name) =>
      [...published.values()].flatMap((terms) =>
        name === txtName(terms.domain) && sites.get(terms.domain)?.site.proof === 'dns'
          ? [txtValue(options.base, terms)]
          : [],
      ),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function fileOf(
  base: Network,
  found: { site: DemoSite; files: ReadonlyMap<string, RenderedFile> },
  terms: ProofTerms | undefined,
  path: string,
): RenderedFile | undefined {
  const { site, files } = found
  if (path === wellKnownPath)
    return terms && site.proof === 'file'
      ? { contentType: 'application/json', body: JSON.stringify(fileContent(base, terms)) }
      : undefined
  const file = files.get(path)
  if (path !== '/' || !file || !terms || site.proof !== 'meta') return file
  return {
    ...file,
    body: file.body.replace('<!--proof-->', `<meta name="${metaName}" content="${metaContent(base, terms)}">`),
  }
}
