import { Problem } from '@assay/till/kernel/problem'
import { openCorpus, readSeed } from '../sources/corpus/index.ts'
import { runCrawler } from '../sources/crawl/run-crawler.ts'
import type { SourceWorld } from '../sources/sources.fixture.ts'
import { answerMatch, type MatchDeps } from './answer-match.ts'
import { followPages } from './follow-pages.ts'
import { type GeneratedSites, generateSites } from './generated-sites.fixture.ts'
import type { MatchEngine } from './match-engine.ts'
import type { MatchAnswer } from './match-schemas.ts'

export type AskedResult = {
  pagesRead: number
  /** By difficulty: questions, and how many had their page first, and among the first three. */
  answered: Map<string, { asked: number; first: number; firstThree: number }>
  /** By reason: questions that no page answers, and how many were refused without a charge. */
  refused: Map<string, { asked: number; refused: number }>
  /** What must never happen, each with an example. */
  forbiddenOffered: string[]
  copiesOffered: string[]
}

export type AskOptions = { pages: number; perSite: number; questionsMax: number }

/** Sites are generated, added to the corpus, crawled, indexed and asked about, with the floor in force. */
export async function askGenerated(world: SourceWorld, engine: MatchEngine, options: AskOptions): Promise<AskedResult> {
  const { database, clock, ids, log } = world.deps
  const sites = await generateSites(world, options.pages, options.perSite)
  const corpus = openCorpus({ database, clock, ownUrls: [], demoHosts: new Set<string>() })
  await corpus.add(
    sites.domains.flatMap((domain) => readSeed(domain) ?? []),
    { pages: 4 * options.perSite },
    'tester',
  )
  for (let turns = 0; turns < 100; turns += 1) {
    const { hosts } = await runCrawler(world.deps, { forMs: 60_000 })
    if (hosts === 0) break
  }
  const following = await followPages({ database, clock, log }, engine)
  await following.caughtUp
  await following.stop()
  const deps: MatchDeps = { database, clock, ids, log, engine, paysCreators: true }
  return { ...(await askAll(deps, sites, options.questionsMax)), pagesRead: (await corpus.status()).pages.read }
}

async function ask(deps: MatchDeps, query: string): Promise<MatchAnswer['data']> {
  try {
    const { answer } = await answerMatch(deps, { query }, `0x${'11'.repeat(20)}`)
    return (JSON.parse(String(answer.body)) as MatchAnswer).data
  } catch (error) {
    if (error instanceof Problem && error.code === 'no_match') return []
    throw error
  }
}

/** Some of a list, evenly over all of it. */
const some = <Item>(items: readonly Item[], most: number): Item[] =>
  items.filter((_, at) => at % Math.max(1, Math.ceil(items.length / most)) === 0)

async function askAll(deps: MatchDeps, sites: GeneratedSites, most: number): Promise<Omit<AskedResult, 'pagesRead'>> {
  const result: Omit<AskedResult, 'pagesRead'> = {
    answered: new Map(),
    refused: new Map(),
    forbiddenOffered: [],
    copiesOffered: [],
  }
  const check = (data: MatchAnswer['data']) => {
    const seen = new Set<string>()
    for (const { url, text_sha256 } of data) {
      if (sites.forbidden.has(url)) result.forbiddenOffered.push(url)
      if (seen.has(text_sha256)) result.copiesOffered.push(url)
      seen.add(text_sha256)
    }
  }
  const difficulties = new Set(sites.asked.map(({ difficulty }) => difficulty))
  for (const difficulty of difficulties) {
    const row = { asked: 0, first: 0, firstThree: 0 }
    result.answered.set(difficulty, row)
    for (const { question, url } of some(
      sites.asked.filter((one) => one.difficulty === difficulty),
      most / difficulties.size,
    )) {
      const data = await ask(deps, question)
      check(data)
      row.asked += 1
      if (data[0]?.url === url) row.first += 1
      if (data.slice(0, 3).some((page) => page.url === url)) row.firstThree += 1
    }
  }
  for (const why of new Set(sites.unanswered.map((one) => one.why))) {
    const row = { asked: 0, refused: 0 }
    result.refused.set(why, row)
    for (const { question } of some(
      sites.unanswered.filter((one) => one.why === why),
      most / 3,
    )) {
      const data = await ask(deps, question)
      check(data)
      row.asked += 1
      if (data.length === 0) row.refused += 1
    }
  }
  return result
}
