import { readFileSync } from 'node:fs'
import { keyDirectory } from '@assay/till/signing'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { checkPrices } from './check-prices.ts'
import { describeMesh } from './describe-mesh.ts'
import { emptyMesh, ok, reportOffer } from './mesh.fixture.ts'
import { createMeshViews } from './mesh-view.ts'
import type { PeerFetcher } from './peer-fetcher.ts'
import { receiveAnnouncement } from './receive-announcement.ts'
import { createRounds } from './run-round.ts'
import { secondImplementation } from './second-implementation.fixture.ts'
import { findPeer } from './store.ts'

const db = await useTestDatabase()

test('a node that was written from the document alone joins, is visited, priced and listed, and reads their answers', async () => {
  const mesh = await emptyMesh(db)
  const { clock } = mesh
  const other = secondImplementation('https://api.second.example', clock.nowMs)
  const fetcher: PeerFetcher = {
    fetch: async (url, request) => {
      if (new URL(url).origin !== other.address) return mesh.world.fetcher.fetch(url, request)
      const { status, headers, body } = other.answer(request.method ?? 'GET', url)
      return ok(url, status, body, headers, '198.51.100.7')
    },
  }
  const deps = { ...mesh.deps, fetcher, offers: () => [reportOffer] }
  const sent = other.announcement(deps.self.origin)
  const call = {
    method: 'POST',
    received: { authority: sent.authority, path: sent.path, query: '?' },
    headers: new Map(Object.entries(sent.headers)),
    rawBody: Buffer.from(sent.body),
    remoteAddress: '198.51.100.7',
    signal: new AbortController().signal,
  }
  const strangers = { admit: () => true }
  expect(await receiveAnnouncement(deps, strangers, JSON.parse(sent.body), call)).toMatchObject({ accepted: true })
  await expect(receiveAnnouncement(deps, strangers, JSON.parse(sent.body), call)).rejects.toThrow()

  clock.advance(1)
  const views = createMeshViews(deps)
  const rounds = createRounds(deps, views)
  await rounds.run()
  await rounds.idle()
  const row = await findPeer(db.database, other.did)
  expect(row).toMatchObject({ state: 'alive', failures: 0 })
  if (row === undefined) throw new Error('not known')
  expect(await checkPrices(deps, row, new AbortController().signal)).toEqual([])
  expect((await findPeer(db.database, other.did))?.askedMicro).toEqual({ 'GET token.control.report': '30000' })

  const document = describeMesh(deps, await views.refresh(), {}) ?? ''
  const directory = JSON.stringify(keyDirectory(deps.keyring))
  expect(other.read(document, directory)).toMatchObject({
    offers: [{ capability: 'token.control.report', price_micro: '20000' }],
    names: [other.address],
  })
  expect(other.read(document.replace('"20000"', '"10000"'), directory)).toBeUndefined()

  other.price('40000')
  clock.advance(deps.settings.visitEveryMs)
  await rounds.run()
  await rounds.idle()
  await rounds.stop()
  expect((await findPeer(db.database, other.did))?.statement).toContain('.')
  expect((await views.refresh()).peers[0]?.content.offers[0]?.price_micro).toBe('40000')
})

test('the second implementation uses nothing of this repository', () => {
  const text = readFileSync(new URL('./second-implementation.fixture.ts', import.meta.url), 'utf8')
  expect([...text.matchAll(/\bfrom '([^']*)'/g)].map(([, from]) => from)).toEqual(['node:crypto'])
})
