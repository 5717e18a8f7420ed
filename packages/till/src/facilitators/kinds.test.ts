import { expect, test } from 'vitest'
import { chooseFacilitators } from './kinds.ts'

const chosen = (choice: string | undefined, env: Record<string, string> = {}) => {
  const problems: string[] = []
  return { list: chooseFacilitators(choice, env, problems), problems }
}
const keys = { CDP_API_KEY_ID: 'id', CDP_API_KEY_SECRET: 'secret' }
const url = 'https://facilitator.example/x402'

test('each kind is chosen by its own word, with its own settings, and local where nothing is chosen', () => {
  expect(chosen(undefined)).toEqual({ list: [{ kind: 'local', settings: {} }], problems: [] })
  expect(chosen('local')).toEqual({ list: [{ kind: 'local', settings: {} }], problems: [] })
  expect(chosen('cdp', keys).list).toMatchObject([
    { kind: 'cdp', settings: { apiKeyId: 'id', apiKeySecret: 'secret' } },
  ])
  expect(chosen(url, keys)).toEqual({ list: [{ kind: 'http', settings: { url } }], problems: [] })
})

test('several are tried in the order in which they are named', () => {
  const { list, problems } = chosen(`cdp, ${url},local`, keys)
  expect([list.map(({ kind }) => kind), problems]).toEqual([['cdp', 'http', 'local'], []])
  expect(chosen('local,local').problems).toEqual(['FACILITATOR: names one twice'])
})

test('what is missing or unknown is said by the name of its variable', () => {
  expect(chosen('local,cdp', { CDP_API_KEY_ID: '' }).problems).toEqual([
    'CDP_API_KEY_ID: missing, needed by FACILITATOR=cdp',
    'CDP_API_KEY_SECRET: missing, needed by FACILITATOR=cdp',
  ])
  for (const wrong of ['', 'ftp://facilitator.example', 'CDP', 'https://', 'local,'])
    expect(chosen(wrong).problems).toEqual([
      'FACILITATOR: must be a list of: local, cdp, the URL of an x402 facilitator',
    ])
})
