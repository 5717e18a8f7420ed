import { createServer } from 'node:https'
import { onLoopback } from '@assay/till/kernel/on-loopback.fixture'
import { afterEach, expect, test } from 'vitest'
import { type Certificate, makeCertificate } from './certificate.fixture.ts'
import { listenTcp, ordinary, outboundFor } from './outbound.fixture.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const authority = makeCertificate({ name: 'Test authority', authority: true })
const day = 86_400_000

/** Counts requests, not connections: a handshake must happen before a certificate can be refused. */
async function listenTls(certificate: Certificate, location?: string) {
  const state = { requests: 0 }
  const server = createServer({ cert: certificate.pem, key: certificate.key }, (_, response) => {
    state.requests += 1
    if (location !== undefined) response.writeHead(302, { location })
    response.end('hello')
  })
  const { port, close } = await onLoopback(server)
  closing.push(close)
  return Object.assign(state, { port })
}

const outboundTo = (ports: Record<string, number>) =>
  outboundFor({
    certificateAuthority: authority.pem,
    loopbackHosts: new Map(Object.entries(ports).map(([host, port]) => [host, { address: '127.0.0.1', port }])),
  })

test('S26: an expired, a not yet valid, a self-signed and a foreign certificate fail before any request is sent', async () => {
  const good = await listenTls(makeCertificate({ name: 'site.test', issuer: authority }))
  expect(await outboundTo({ 'site.test': good.port }).fetch('https://site.test/', ordinary)).toMatchObject({
    status: 'ok',
    secure: true,
  })
  const stranger = makeCertificate({ name: 'Another authority', authority: true })
  const bad = {
    expired: makeCertificate({
      name: 'site.test',
      issuer: authority,
      from: new Date(Date.now() - 9 * day),
      until: new Date(Date.now() - day),
    }),
    early: makeCertificate({
      name: 'site.test',
      issuer: authority,
      from: new Date(Date.now() + day),
      until: new Date(Date.now() + 9 * day),
    }),
    selfSigned: makeCertificate({ name: 'site.test' }),
    wrongName: makeCertificate({ name: 'other.test', issuer: authority }),
    unknownIssuer: makeCertificate({ name: 'site.test', issuer: stranger }),
  }
  for (const [name, certificate] of Object.entries(bad)) {
    const server = await listenTls(certificate)
    const outcome = await outboundTo({ 'site.test': server.port }).fetch('https://site.test/', ordinary)
    expect(outcome, name).toMatchObject({ status: 'failed', reason: 'tls', retryable: false })
    expect(server.requests, name).toBe(0)
  }
})

test('a handshake that does not end within the time for connecting is a failed connection', async () => {
  const silent = await listenTcp(() => {})
  closing.push(() => silent.close())
  const outbound = outboundFor({
    connectMs: 50,
    loopbackHosts: new Map([['site.test', { address: '127.0.0.1', port: silent.port }]]),
  })
  for (const round of [1, 2]) {
    const outcome = await outbound.fetch('https://site.test/', ordinary)
    expect(outcome).toMatchObject({ status: 'failed', reason: 'connect', retryable: true })
    expect(silent.connections).toBe(round)
  }
})

test('S26: a connection kept for one name is not used for another on the same address', async () => {
  const server = await listenTls(makeCertificate({ name: 'site.test', issuer: authority }))
  const outbound = outboundTo({ 'site.test': server.port, 'other.test': server.port })
  expect(await outbound.fetch('https://site.test/', ordinary)).toMatchObject({ status: 'ok' })
  expect(await outbound.fetch('https://other.test/', ordinary)).toMatchObject({ status: 'failed', reason: 'tls' })
  expect(server.requests).toBe(1)
})

test('S9: https never leads to http, not even through a third name', async () => {
  const canary = await listenTcp((socket) => socket.destroy())
  closing.push(canary.close)
  const direct = await listenTls(makeCertificate({ name: 'site.test', issuer: authority }), 'http://plain.test/')
  const detour = await listenTls(makeCertificate({ name: 'detour.test', issuer: authority }), 'https://site.test/')
  const outbound = outboundTo({ 'site.test': direct.port, 'detour.test': detour.port, 'plain.test': canary.port })
  for (const url of ['https://site.test/', 'https://detour.test/'])
    expect(await outbound.fetch(url, { ...ordinary, plainHttp: true }), url).toMatchObject({
      status: 'refused',
      reason: 'downgrade',
      url: 'http://plain.test/',
    })
  expect(canary.connections).toBe(0)
})
