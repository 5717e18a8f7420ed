import { expect, test } from 'vitest'
import { openSnapshots, type SiteOptions } from './snapshots.fixture.ts'

const page = { url: 'http://www.cited.com/a', domain: 'www.cited.com', registrable: 'cited.com' }
const read = (options: SiteOptions = {}) => openSnapshots(options).snapshots.of(page)

test('a page that moved is read, unless robots.txt forbids where it went', async () => {
  const moved = 'https://cited.com/b'
  expect(await read({ finalUrl: () => moved })).toMatchObject({ finalUrl: moved, text: 'Words of the page.' })
  const { snapshots, fetched } = openSnapshots({ finalUrl: () => moved, forbidden: [moved] })
  await expect(snapshots.of(page)).rejects.toMatchObject({ code: 'page_unreadable' })
  expect(fetched).toEqual([page.url])
})

test('only 200 is a page', async () => {
  for (const httpStatus of [204, 206, 404, 500])
    await expect(read({ httpStatus })).rejects.toMatchObject({ code: 'page_unreadable' })
})

test('many citations of one page at once fetch it once', async () => {
  const { snapshots, fetched } = openSnapshots()
  await Promise.all([snapshots.of(page), snapshots.of(page), snapshots.of(page)])
  expect(fetched).toEqual([page.url])
})

test('redirects that lead back, go on for too long or give up encryption are not followed', async () => {
  const { snapshots, fetched } = openSnapshots({ finalUrl: (url) => `${url}a` })
  await expect(snapshots.of(page)).rejects.toThrow('more than 3 redirects')
  expect(fetched).toHaveLength(4)
  const long = (url: string) => (url === page.url ? `http://b.com/${'a'.repeat(2_048)}` : url)
  await expect(read({ finalUrl: long })).rejects.toThrow('more than 2048 characters')
  const back = (url: string) => (url === page.url ? 'http://b.com/' : page.url)
  await expect(read({ finalUrl: back })).rejects.toThrow('lead back')
  const secure = { ...page, url: 'https://www.cited.com/a' }
  const plain = openSnapshots({ finalUrl: () => 'http://www.cited.com/a' })
  await expect(plain.snapshots.of(secure)).rejects.toThrow('https redirects to http')
})

test('the host that a redirect leads to is asked in its own turn', async () => {
  const turns: string[] = []
  const { snapshots } = openSnapshots({
    finalUrl: () => 'https://b-site.com/story',
    turns: {
      take: (host, work) => {
        turns.push(host)
        return work()
      },
    },
  })
  await snapshots.of(page)
  expect(turns).toEqual(['www.cited.com', 'b-site.com'])
})

test('a page that needs JavaScript is stamped as the browser of the operator shows it, and not at all without one', async () => {
  const body = '<div id="root"></div><script src="/app.js"></script>'
  const words = 'Words that a script put there, long enough to be the text of a page that is read and cited. '.repeat(4)
  await expect(read({ body })).rejects.toThrow('needs JavaScript: without it the page has no text')
  const render = (html: string) => read({ body, renderPage: async () => ({ html }) })
  const shown = await render(`<html><body><div id="root"><p>${words}</p></div></body></html>`)
  expect(shown.text).toContain('Words that a script put there')
  await expect(render(`<html><body>${body}</body></html>`)).rejects.toThrow('no text after it ran')
  const failing = { body, renderPage: async () => ({ problem: 'it took more than 20 s' }) }
  await expect(read(failing)).rejects.toThrow('needs JavaScript: it took more than 20 s')
})
