import { expect, test } from 'vitest'
import { sourceUrl } from './source-url.ts'

const rules = { ownHosts: new Set(['node.example.org']), demoHosts: new Set<string>() }
const urlOf = (text: string) => sourceUrl(text, rules).url

test('a trailing dot, case or tracking parameters do not make another page', () => {
  const page = 'https://cited.com/a?id=7'
  for (const spelling of [
    'https://cited.com./a?id=7',
    'HTTPS://Cited.COM/a?id=7#part',
    'https://cited.com:443/a?id=7',
    'https://cited.com/a?utm_source=x&id=7&UTM_Medium=y',
    'https://cited.com/a?id=7&gclid=1&fbclid=2&msclkid=3',
    'https://cited.com/a?id=7&%75tm_campaign=x',
  ])
    expect(urlOf(spelling), spelling).toBe(page)
  expect(urlOf('https://cited.com/a?utm_source=x')).toBe('https://cited.com/a')
  expect(urlOf('https://cited.com/a?')).toBe('https://cited.com/a')
  expect(urlOf('https://cited.com/%c3%a9')).toBe('https://cited.com/%C3%A9')
})

test('the path, its case and every other parameter still name the page', () => {
  for (const page of [
    'https://cited.com/A',
    'https://cited.com/a/',
    'https://cited.com/a?b=1&a=2',
    'https://cited.com/a?q=x+y&q=%20',
    'https://cited.com/a?source=utm_source',
    'https://cited.com/a?&&x',
  ])
    expect(urlOf(page)).toBe(page)
})
