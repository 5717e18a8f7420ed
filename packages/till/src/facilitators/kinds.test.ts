import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as embedders from '../index.ts'
import type { FacilitatorKind } from './facilitator-kind.ts'
import {
  chooseFacilitators,
  facilitatorChoices,
  facilitatorOptions,
  findChoiceProblems,
  settlesItself,
} from './kinds.ts'
import * as list from './list.ts'

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
    expect(chosen(wrong).problems).toEqual([`FACILITATOR: must be a list of: ${facilitatorChoices.join(', ')}`])
})

test('a kind has one name: that of its folder, of its choice and of its option, and an embedder imports it', () => {
  for (const [name, { kind }] of Object.entries<{ kind: FacilitatorKind }>(list)) {
    expect(kind.name).toBe(name)
    expect(existsSync(new URL(`./${name}/index.ts`, import.meta.url)), name).toBe(true)
    expect(facilitatorOptions.filter((option) => option.startsWith(`${name}(`))).toEqual([kind.option])
    expect(facilitatorChoices).toContain(kind.chosenBy)
  }
  expect(embedders).toMatchObject(list)
})

test('a kind says itself what it needs of an operator and of an embedder', () => {
  expect([settlesItself(chosen(`${url},local`).list), settlesItself(chosen(url).list)]).toEqual(['local', undefined])
  const found = (kind: string, settings: Record<string, string>, given = { hasKeys: false, demo: false }) =>
    findChoiceProblems({ kind, settings }, given)
  expect(found('local', {})).toEqual(['local({ keys }) needs the key of at least one wallet with gas'])
  expect(found('local', {}, { hasKeys: true, demo: false })).toEqual([])
  expect(found('cdp', { apiKeyId: 'id' })).toEqual(['cdp({ keySecret }) is missing'])
  expect(found('http', { url: 'http://facilitator.example' })).toEqual(['http(url) must be https'])
  expect(found('http', { url: 'http://facilitator.example' }, { hasKeys: false, demo: true })).toEqual([])
  expect(() => found('url', {})).toThrow('there is no facilitator url')
})
