import type { Clock } from '@assay/till/kernel/clock'
import type { Database } from '@assay/till/store/database'
import { createPdfReader } from '../page/pdf-process-adapter.ts'
import { type AddedSeeds, addSeeds, type SeedBudget } from './add-seeds.ts'
import { type ArchiveBudget, type ImportedArchive, importArchive } from './import-archive.ts'
import type { Seed } from './read-seed.ts'
import { type CorpusStatus, readCorpusStatus } from './read-status.ts'

export type { AddedSeeds } from './add-seeds.ts'
export type { ImportedArchive } from './import-archive.ts'
export { readSeed, readSeedLines, type Seed } from './read-seed.ts'
export type { CorpusStatus } from './read-status.ts'

/** What an operator does about the pages that can be found. */
export type Corpus = {
  add(seeds: readonly Seed[], budget: SeedBudget, actor: string): Promise<AddedSeeds>
  importArchive(
    path: string,
    budget: ArchiveBudget,
    onProgress: (so: ImportedArchive) => void,
  ): Promise<ImportedArchive>
  status(): Promise<CorpusStatus>
}

/** `hosts`: addresses of the node itself, and names that its demo asks at loopback. */
export function openCorpus(options: {
  database: Database
  clock: Clock
  ownUrls: readonly string[]
  demoHosts: { has(host: string): boolean }
}): Corpus {
  const { database, clock, demoHosts } = options
  const ownHosts = new Set(options.ownUrls.map((url) => new URL(url).hostname))
  const deps = { database, clock, domains: { ownHosts, demoHosts }, readPdf: createPdfReader(clock) }
  return {
    add: (seeds, budget, actor) => addSeeds(deps, seeds, budget, actor),
    importArchive: (path, budget, onProgress) => importArchive(deps, path, budget, onProgress),
    status: () => readCorpusStatus(database, clock.nowMs()),
  }
}
