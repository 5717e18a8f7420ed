import { expect, test } from 'vitest'
import { chooseFacilitator } from './kinds.ts'

const chosen = (choice: string | undefined, env: Record<string, unknown> = {}) => {
  const problems: string[] = []
  return { ...chooseFacilitator(choice, env, problems), problems }
}

test('each kind is chosen by its own word, with its own settings, and local where nothing is chosen', () => {
  expect(chosen(undefined)).toEqual({ kind: 'local', settings: {}, problems: [] })
  expect(chosen('local')).toEqual({ kind: 'local', settings: {}, problems: [] })
  const keys = { CDP_API_KEY_ID: 'id', CDP_API_KEY_SECRET: 'secret' }
  expect(chosen('cdp', keys)).toMatchObject({ kind: 'cdp', settings: { apiKeyId: 'id', apiKeySecret: 'secret' } })
  const url = 'https://facilitator.example/x402'
  expect(chosen(url, keys)).toEqual({ kind: 'url', settings: { url }, problems: [] })
})

test('what is missing or unknown is said by the name of its variable', () => {
  expect(chosen('cdp', { CDP_API_KEY_ID: '' }).problems).toEqual([
    'CDP_API_KEY_ID: missing, needed by FACILITATOR=cdp',
    'CDP_API_KEY_SECRET: missing, needed by FACILITATOR=cdp',
  ])
  for (const wrong of ['', 'ftp://facilitator.example', 'CDP', 'https://'])
    expect(chosen(wrong).problems).toEqual(['FACILITATOR: must be one of: local, cdp, the URL of an x402 facilitator'])
})
