import { expect, test } from 'vitest'
import { escapeMarkup } from './escape-markup.ts'

test('text stays text between tags and within quotes of either kind', () => {
  expect(escapeMarkup(`<a href="x" title='y'>&amp;</a>`)).toBe(
    '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;',
  )
  expect(escapeMarkup('plain text')).toBe('plain text')
})

test('characters that XML cannot carry are left out, line ends and tabs are kept', () => {
  expect(escapeMarkup('a\u0000b\u0008c\u000bd\u000ce\u000ef\u001fg\ufffeh\uffffi')).toBe('abcdefghi')
  expect(escapeMarkup('a\tb\nc\rd e')).toBe('a\tb\nc\rd e')
})
