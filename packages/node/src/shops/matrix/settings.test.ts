import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SettingsError } from '../shop-settings.ts'
import { fetchPlans } from './ingest/fetch-plan.ts'
import { parseMatrixSettings } from './settings.ts'

const production = { demo: false }
const line = (source: string) => `${source} | free | Jane Doe | 2026-03-01 | terms read`
const problemsOf = (given: Parameters<typeof parseMatrixSettings>[0]): string => {
  try {
    parseMatrixSettings(given, production)
  } catch (error) {
    if (error instanceof SettingsError) return error.problems.join('\n')
    throw error
  }
  return ''
}

test('a production node fetches what needs no licence, a demo node nothing', () => {
  expect(parseMatrixSettings({}, production).fetch).toEqual(['sec-fails', 'sec-shares', 'sec-tickers', 'sec-13f'])
  expect(parseMatrixSettings({}, { demo: true }).fetch).toEqual([])
  expect(parseMatrixSettings({ MATRIX: { fetch: [] } }, production).fetch).toEqual([])
})

test('a line with its licence puts a source on, from a file too', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'assay-licences-'))
  const path = join(folder, 'licences')
  await writeFile(path, `# ours\n${line('ibkr-borrow')}\n`)
  for (const LICENCES of [path, line('ibkr-borrow')])
    expect(parseMatrixSettings({ LICENCES }, production)).toMatchObject({
      fetch: expect.arrayContaining(['ibkr-borrow', 'sec-fails']),
      assertions: [{ source: 'ibkr-borrow', allows: 'free' }],
    })
  await rm(folder, { recursive: true })
  expect(problemsOf({ LICENCES: path })).toContain('cannot be read')
})

test('prices are fetched with a vendor and a licence, and not without either', () => {
  const vendor = { PRICE_SOURCE: 'polygon', PRICE_SOURCE_KEY: 'key-of-the-vendor' }
  const fetch = (given: object) => parseMatrixSettings(given, production).fetch.includes('prices')
  expect([fetch(vendor), fetch({ LICENCES: line('prices') }), fetch({ ...vendor, LICENCES: line('prices') })]).toEqual([
    false,
    false,
    true,
  ])
})

test('fields of a vendor are fetched a day at a time, with an address, its key and a licence', () => {
  const vendor = { FIELDS_SOURCE: 'csv https://vendor.example/{date}.csv', FIELDS_SOURCE_KEY: 'key-of-the-vendor' }
  expect(parseMatrixSettings(vendor, production).fetch).not.toContain('vendor-fields')
  expect(problemsOf({ FIELDS_SOURCE: 'csv' })).toContain('FIELDS_SOURCE: csv needs the address')
  expect(problemsOf({ FIELDS_SOURCE_KEY: 'key-of-the-vendor' })).toContain('FIELDS_SOURCE: missing')
  const settings = parseMatrixSettings({ ...vendor, LICENCES: line('vendor-fields') }, production)
  const plan = fetchPlans(settings).find(({ source }) => source === 'vendor-fields')
  const [due] = plan?.due(Date.parse('2026-11-17T12:00:00Z')) ?? []
  // The day before is delivered at 8:00 ET, which has not come.
  expect([due?.name, due?.url]).toEqual(['fields-20261113.csv', 'https://vendor.example/2026-11-13.csv'])
  expect(plan?.keyed(due?.url ?? '')).toBe('https://vendor.example/2026-11-13.csv?apikey=key-of-the-vendor')
})

test('what is wrong with the price source is said, without its key', () => {
  const key = 'secret-key-1234'
  expect(problemsOf({ PRICE_SOURCE_KEY: key })).toContain('PRICE_SOURCE: missing')
  expect(problemsOf({ PRICE_SOURCE: 'polygon' })).toContain('PRICE_SOURCE_KEY: missing')
  expect(problemsOf({ PRICE_SOURCE: 'bloomberg', PRICE_SOURCE_KEY: key })).toContain('must be one of')
  expect(problemsOf({ PRICE_SOURCE: 'stooq', PRICE_SOURCE_KEY: key })).toContain('needs the address')
  expect(problemsOf({ PRICE_SOURCE: 'csv http://a.example/{date}' })).toContain('https')
  expect(problemsOf({ PRICE_SOURCE: 'csv https://a.example/x.csv' })).toContain('{date}')
  expect(problemsOf({ PRICE_SOURCE: `csv https://a.example/{date}?token=${key}` })).toContain('must not hold the key')
  expect(problemsOf({ PRICE_SOURCE: 'polygon', PRICE_SOURCE_KEY: 'has spaces in it' })).toContain('visible characters')
  expect(problemsOf({ PRICE_SOURCE: 'polygon', PRICE_SOURCE_KEY_FILE: '/nowhere' })).toContain('cannot be read')
  for (const PRICE_SOURCE of ['bloomberg', 'stooq', `csv https://a.example/{date}?token=${key}`])
    expect(problemsOf({ PRICE_SOURCE, PRICE_SOURCE_KEY: key })).not.toContain(key)
})
