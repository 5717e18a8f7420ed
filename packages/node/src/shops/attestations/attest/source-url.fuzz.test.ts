import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sourceUrl } from './source-url.ts'

const rules = { ownHosts: new Set(['node.example.org']), demoHosts: new Set<string>() }
const pieces = fc.constantFrom(
  '?',
  '&',
  '=',
  '/',
  '#',
  '%',
  '%c3%A9',
  '%75tm_x',
  'utm_a',
  'gclid',
  'id',
  '1',
  '.',
  '+',
  'é',
)
const tails = fc.array(pieces, { maxLength: 12 }).map((list) => list.join(''))
const urlOf = (tail: string) => sourceUrl(`https://Cited.com./${tail}`, rules).url

test('the address of a page is the same when it is read again', () => {
  fc.assert(
    fc.property(tails, (tail) => {
      const first = urlOf(tail)
      expect(sourceUrl(first, rules).url).toBe(first)
      expect(first.startsWith('https://cited.com/')).toBe(true)
    }),
  )
})

test('a tracking parameter at the end of any query changes nothing', () => {
  fc.assert(
    fc.property(tails, (tail) => {
      const [address = ''] = tail.split('#')
      const joint = address.includes('?') ? '&' : '?'
      const emptyEnd = /[?&]$/.test(address)
      fc.pre(!emptyEnd)
      expect(urlOf(`${address}${joint}utm_source=x`)).toBe(urlOf(address))
    }),
  )
})
