// The web as the node and its buyers see it: publishers' hosts, sites to crawl, the proxy in front of the node, and DNS.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { Agent, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createSecureContext } from 'node:tls'
import { answerCommands } from '../../bench/process/commands.ts'
import { reply } from '../../packages/node/src/outbound/dns/dns-server.fixture.ts'
import { hosts, publicAddressOf } from './names.ts'
import { openPublishers } from './publishers.ts'
import { openSites } from './sites.ts'

type Setup = { certificates: Record<string, { cert: string; key: string }> }
const { certificates } = JSON.parse(process.env['REHEARSAL_SETUP'] ?? '') as Setup
const contexts = new Map(Object.entries(certificates).map(([host, pair]) => [host, createSecureContext(pair)]))
const publishers = openPublishers(Date.now())
const sites = openSites()
let nodePort: number | undefined
// A request is never sent twice, so none may meet a connection that the node has just closed.
const agent = new Agent({ keepAlive: false })
const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding'])

function toNode(incoming: IncomingMessage, response: ServerResponse): void {
  if (nodePort === undefined) return void response.writeHead(502).end()
  const { method, url, headers } = incoming
  const passed = { ...headers, 'x-forwarded-for': incoming.socket.remoteAddress }
  const outgoing = forward(
    { agent, host: '127.0.0.1', port: nodePort, method, path: url, headers: passed },
    (answer) => {
      for (const [name, value] of Object.entries(answer.headersDistinct))
        if (!hopByHop.has(name) && value) response.setHeader(name, value)
      response.writeHead(answer.statusCode ?? 502)
      answer.pipe(response)
    },
  )
  outgoing.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()))
  response.on('close', () => outgoing.destroy())
  incoming.pipe(outgoing)
}

const server = createServer({ SNICallback: (name, done) => done(null, contexts.get(name)) }, (incoming, response) => {
  const host = incoming.headers.host ?? ''
  if (host === hosts.node || host === hosts.api) return toNode(incoming, response)
  if (publishers.has(host)) return publishers.answer(host, incoming, response)
  return sites.answer(host, incoming, response)
})
server.keepAliveTimeout = 600_000
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

const typeA = 1
const resolver = createSocket('udp4')
resolver.on('message', (query, from) => {
  const { name, type } = questionOf(query)
  const address = type === typeA ? publicAddressOf(name) : undefined
  const records = address === undefined ? [] : [{ type: typeA, data: address.split('.').map(Number) }]
  resolver.send(reply(query, records), from.port, from.address)
})
resolver.bind(0, '127.0.0.1')
await once(resolver, 'listening')

function questionOf(query: Buffer): { name: string; type: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length !== 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1) }
}

answerCommands(
  {
    ports: () => ({ web: (server.address() as AddressInfo).port, dns: resolver.address().port }),
    node: (port: number) => {
      nodePort = port
    },
    publish: (open: boolean) => publishers.open(open),
    asked: () => publishers.asked(),
    site: ({ host, path, body }: { host: string; path: string; body: string }) => sites.put(host, path, body),
  },
  () =>
    new Promise((resolve) => {
      resolver.close()
      server.close(() => resolve())
      server.closeAllConnections()
    }),
)
