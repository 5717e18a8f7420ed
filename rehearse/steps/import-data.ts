import { importing } from '../operator.ts'
import { hosts } from '../outside/names.ts'
import { expectThat } from '../report.ts'
import { until } from '../until.ts'
import { at, atApi, brief, jsonOf, type Step } from './step.ts'

const creatorSite = hosts.sites[0]

export const importData: Step = async (world, report, planted) => {
  report.step('2. import')
  await report.check('after a restart with the importer on, official files are fetched over HTTPS', async () => {
    const code = await world.node?.end('SIGTERM')
    expectThat(code === 0, `the node ended with ${code}`)
    if (planted === 'publishers') await world.publish(false)
    await world.startNode(importing)
    const startedMs = performance.now()
    await until(
      'the ftd feed is for sale',
      async () => (await world.ask({ url: at('/matrix/ftd/live') })).status === 402,
    )
    const { text } = await world.ask({ url: at('/matrix') })
    const sold = (jsonOf({ text }).data as { feed: string; not_available?: unknown }[]) ?? []
    return `ftd for sale after ${((performance.now() - startedMs) / 1000).toFixed(0)} s; ${sold.length} feeds described`
  })
  let registeredMs = performance.now()
  await report.check('a site is registered, proven by a file and crawled over HTTPS', async () => {
    registeredMs = performance.now()
    const wallet = world.operator.traders[0].address
    const registered = await world.ask({
      url: atApi('/v1/sources/register'),
      method: 'POST',
      body: { domain: creatorSite, wallet },
    })
    expectThat(registered.status === 200, brief(registered))
    const { claim } = jsonOf(registered)
    const { pathname } = new URL(claim.prove.file.url)
    if (planted !== 'proof') await world.putFile(creatorSite, pathname, JSON.stringify(claim.prove.file.content))
    const shown = await until('proven and indexed', async () => {
      const seen = await world.ask({
        url: atApi(`/v1/sources/${creatorSite}/verify`),
        method: 'POST',
        body: { wallet },
      })
      const source = jsonOf(seen)
      return source.state === 'proven' && source.crawl.pages_indexed >= 2 && source
    })
    return `${shown.state}, ${shown.crawl.pages_indexed} pages, CiteScore ${shown.cite_score}`
  })
  await report.check(
    'within five minutes of registering it is found; before paying, a buyer sees how old it is',
    async () => {
      let last = ''
      const state = await until('pages are counted', async () => {
        const seen = await world.ask({ url: atApi('/v1/match'), method: 'POST', body: { query: 'bread' } })
        const { data_state: found } = jsonOf(seen)
        last = found ? JSON.stringify(found) : brief(seen)
        return seen.status === 402 && found?.pages >= 2 && found
      }).catch((error: Error) => {
        throw new Error(`${error.message}; the last answer: ${last}`)
      })
      const seconds = Math.round((performance.now() - registeredMs) / 1_000)
      expectThat(seconds <= 300, `found ${seconds} s after it was registered`)
      return `found after ${seconds} s: ${state.pages} pages of ${state.domains} domains, read since ${state.oldest_read_at}`
    },
  )
}
