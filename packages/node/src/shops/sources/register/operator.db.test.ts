import { expect, test } from 'vitest'
import { runCrawler } from '../crawl/run-crawler.ts'
import { findCitedSource } from '../pages/find-payee.ts'
import { findPage, findPageVersion } from '../pages/indexed-page.ts'
import { pageStoredChannel, readPageChanges } from '../pages/page-changes.ts'
import { readSourceTerms } from '../pages/source-terms.ts'
import { scoreSources } from '../score/score-sources.ts'
import { useSourceWorld } from '../sources.fixture.ts'
import { decideDispute, listDisputes } from './decide-dispute.ts'
import { describeSource } from './describe-source.ts'
import { recordDispute } from './record-dispute.ts'
import { admitSource, refuseSource } from './refuse-source.ts'
import { registerSource } from './register-source.ts'
import { verifySource } from './verify-source.ts'

const world = await useSourceWorld()

const wallet = '0x1111111111111111111111111111111111111111' as const
const words = 'Running text about how short interest is collected and published. '.repeat(10)
const pageOf = (title: string, head = '') =>
  `<html><head><title>${title}</title>${head}</head><body><p>${title}. ${words}</p></body></html>`

// biome-ignore lint/suspicious/noExplicitAny: the view is checked member by member
type View = any
const view = async (domain: string) => (await describeSource(world.deps, domain)) as View
const scored = async (domain: string): Promise<View> => {
  while ((await scoreSources(world.deps)) > 0);
  return view(domain)
}

async function readSite(domain: string, page = pageOf('Home')): Promise<void> {
  world.web.set(`https://${domain}/`, page)
  await registerSource(world.deps, { domain, wallet })
  await runCrawler(world.deps, { forMs: 10_000 })
}

async function prove(domain: string): Promise<void> {
  await registerSource(world.deps, { domain, wallet })
  const { claim } = (await describeSource(world.deps, domain, wallet)) as View
  for (const zone of world.txt) zone.set(claim.prove.dns.name, [claim.prove.dns.value])
  await verifySource(world.deps, domain)
}

test('the operator takes a contest up, then upholds or rejects it once, and the score follows', async () => {
  await readSite('contested.com')
  const whole = (await scored('contested.com')).cite_score
  const { id } = await recordDispute(world.deps, {
    domain: 'contested.com',
    kind: 'content',
    statement: 'The article was withdrawn.',
  })
  expect((await scored('contested.com')).cite_score).toBe(whole)
  const decide = (decision: 'pending' | 'upheld' | 'rejected') =>
    decideDispute(world.db.database, { id, decision, reason: 'because', actor: 'test' })
  expect((await listDisputes(world.db.database)).map((row) => row.id)).toEqual([id])
  expect(await decide('pending')).toMatchObject({ status: 'decided', dispute: { state: 'pending', closed_at: null } })
  expect((await scored('contested.com')).score.gate.value).toBe(0.5)
  expect(await decide('upheld')).toMatchObject({ status: 'decided', dispute: { state: 'upheld', outcome: 'because' } })
  const upheld = await scored('contested.com')
  expect(upheld.score.gate.value).toBe(1)
  expect(upheld.cite_score).toBeLessThan(whole)
  expect(await decide('rejected')).toMatchObject({ status: 'impossible' })
  expect(await listDisputes(world.db.database)).toEqual([])
  expect((await listDisputes(world.db.database, { state: 'upheld' })).length).toBe(1)
  expect(
    await decideDispute(world.db.database, { id: 'dsp_none', decision: 'upheld', reason: 'x', actor: 'x' }),
  ).toMatchObject({ status: 'impossible' })
  const audit = await world.db.database.query(`select from audit_log where action like 'source.dispute.%'`)
  expect(audit.rowCount).toBe(2)
})

test('a refused domain has score 0, takes no claim, is not visited, and its pages are offered no more; admitted it is as before', async () => {
  await readSite('harmful.com')
  await prove('harmful.com')
  const before = await scored('harmful.com')
  const input = { domain: 'harmful.com', reason: 'phishing', actor: 'test' }
  let { nextSeq } = await readPageChanges(world.db.database, 0n, 1_000)
  expect(await refuseSource(world.db.database, input)).toBe('refused')
  expect(await scored('harmful.com')).toMatchObject({
    cite_score: 0,
    state: 'refused',
    state_reason: 'phishing',
    payout: { state: 'held' },
    next_steps: [{ state: 'missing', fix: 'phishing' }, {}, {}, {}],
  })
  await expect(registerSource(world.deps, { domain: 'harmful.com', wallet })).rejects.toMatchObject({
    code: 'source_refused',
  })
  expect((await readPageChanges(world.db.database, nextSeq, 10)).changes).toMatchObject([
    { url: 'https://harmful.com/', page: undefined },
  ])
  world.advance(3 * 86_400_000)
  world.requests.length = 0
  await runCrawler(world.deps, { forMs: 5_000 })
  expect(world.requests.some(({ url }) => url.includes('harmful.com'))).toBe(false)
  nextSeq = (await readPageChanges(world.db.database, nextSeq, 1_000)).nextSeq
  expect(await admitSource(world.db.database, input)).toBe('proven')
  expect((await scored('harmful.com')).cite_score).toBe(before.cite_score)
  expect((await readPageChanges(world.db.database, nextSeq, 10)).changes[0]?.page).toMatchObject({ title: 'Home' })
  expect(await refuseSource(world.db.database, { ...input, domain: 'never-seen.com' })).toBeUndefined()
})

test('readers of pages get every change once, in order, with text and digests, and a wake-up', async () => {
  const heard: string[] = []
  const stop = await world.db.database.listen(pageStoredChannel, (domain) => heard.push(domain))
  const from = (await readPageChanges(world.db.database, 0n, 1_000)).nextSeq
  await readSite(
    'read.com',
    pageOf('First', '<link rel="license" href="https://creativecommons.org/licenses/by/4.0/">'),
  )
  const first = await readPageChanges(world.db.database, from, 10)
  const page = first.changes[0]?.page
  expect(page).toMatchObject({
    domain: 'read.com',
    registrable: 'read.com',
    url: 'https://read.com/',
    title: 'First',
    text: expect.stringContaining('short interest'),
    contentSha256: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    licences: [{ name: 'CC-BY-4.0' }],
  })
  expect(await readPageChanges(world.db.database, first.nextSeq, 10)).toEqual({ changes: [], nextSeq: first.nextSeq })
  await readSite('hidden.com', pageOf('Hidden', '<meta name="robots" content="noindex">'))
  expect((await readPageChanges(world.db.database, first.nextSeq, 10)).changes).toMatchObject([
    { domain: 'hidden.com', page: undefined },
  ])
  expect(await findPage(world.db.database, 'read.com', 'https://read.com/')).toEqual(page)
  const old = {
    domain: 'read.com',
    url: 'https://read.com/',
    textSha256: Buffer.from(page?.textSha256.slice(2) ?? '', 'hex'),
  }
  world.web.set('https://read.com/', pageOf('Second'))
  world.advance(2 * 86_400_000)
  await runCrawler(world.deps, { forMs: 5_000 })
  expect(await findPage(world.db.database, 'read.com', 'https://read.com/')).toMatchObject({ title: 'Second' })
  expect(await findPageVersion(world.db.database, old)).toMatchObject({
    title: 'First',
    contentSha256: page?.contentSha256,
  })
  expect((await readSourceTerms(world.db.database, ['read.com'])).get('read.com')).toMatchObject({
    state: 'registered',
  })
  expect(heard).toContain('read.com')
  await stop()
})

test('a citation belongs to the nearest proven name: a name above speaks for a host by DNS only', async () => {
  const { database } = world.db
  expect(await findCitedSource(database, 'www.owned.com')).toBeUndefined()
  await prove('owned.com')
  expect(await findCitedSource(database, 'www.owned.com')).toMatchObject({
    domain: 'owned.com',
    payout: 'awaiting_wallet_signature',
    claim: { wallet, method: 'dns' },
  })
  // Somebody registers the host without proving it: the owner above is still the one.
  await registerSource(world.deps, { domain: 'www.owned.com', wallet: '0x2222222222222222222222222222222222222222' })
  expect((await findCitedSource(database, 'www.owned.com'))?.domain).toBe('owned.com')
  await database.query(`update source_claim set method = 'file' where domain = 'owned.com'`)
  expect(await findCitedSource(database, 'www.owned.com')).toMatchObject({
    domain: 'www.owned.com',
    payout: 'unproven',
  })
  expect((await findCitedSource(database, 'owned.com'))?.claim?.method).toBe('file')
  expect(await findCitedSource(database, 'com')).toBeUndefined()
})
