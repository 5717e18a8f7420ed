import { expect, test } from 'vitest'
import { AssayError } from './errors.ts'
import { createMatrix } from './matrix.ts'

function open(answers: (path: string) => Response) {
  const asked: string[] = []
  const matrix = createMatrix({
    quote: async () => Promise.reject(new Error('not asked for')),
    pinnedKeys: () => undefined,
    fetch: async (url) => {
      asked.push(String(url))
      return {
        response: answers(String(url)),
        payment: { status: 'none' },
        receipt: undefined,
        verified: { status: 'verified' },
        purchase: undefined,
      } as never
    },
  })
  return { asked, matrix }
}

test('feeds and queries become exact paths', async () => {
  const { asked, matrix } = open(() => Response.json({ data: [] }))
  await matrix.index()
  await matrix.vip('squeeze', { symbol: 'BRK.B', history: 60, as_of: '2026-11-01' })
  await matrix.live('ftd')
  expect(asked).toEqual(['/matrix', '/matrix/squeeze/vip?symbol=BRK.B&history=60&as_of=2026-11-01', '/matrix/ftd/live'])
})

test('pages follow the cursor to the end', async () => {
  const { asked, matrix } = open((path) =>
    Response.json({ data: [1], next_cursor: path.includes('cursor') ? null : 'c1' }),
  )
  const pages: unknown[] = []
  for await (const page of matrix.pages('etf', { limit: 5 })) pages.push(page)
  expect(asked).toEqual(['/matrix/etf/delayed?limit=5', '/matrix/etf/delayed?limit=5&cursor=c1'])
  expect(pages).toHaveLength(2)
})

test('a problem becomes an error with its detail', async () => {
  const { matrix } = open(() => Response.json({ detail: 'There is no such feed.' }, { status: 404 }))
  await expect(matrix.delayed('nope')).rejects.toThrow(AssayError)
  await expect(matrix.delayed('nope')).rejects.toMatchObject({ details: { detail: 'There is no such feed.' } })
})
