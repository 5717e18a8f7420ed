import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from '@assay/till/kernel/log'
import { expect, test } from 'vitest'
import type { IndexedPage } from '../sources/pages/index.ts'
import { loadOnnxRuntime, type OnnxRuntime, openOnnxReranker } from './onnx-adapter.ts'
import { readQuery } from './read-query.ts'
import { rerankPages } from './rerank.ts'
import { parseMatchSettings } from './settings.ts'
import { createWordPieces } from './word-pieces.ts'

const candidate = (title: string, relevance: number) => ({
  page: { title, text: `${title} is what this text is about.` } as IndexedPage,
  text: { relevance, covered: 1, parts: {} },
})
const three = [candidate('one', 0.9), candidate('two', 0.6), candidate('three', 0.3)]
const orderOf = (pages: readonly { page: IndexedPage; text: { relevance: number } }[]) =>
  pages.map(({ page, text }) => [page.title, text.relevance])

test('the model orders the best candidates, which keep the relevance that they had among them', async () => {
  const byLength = {
    pages: 2,
    score: async (_: string, passages: readonly string[]) => passages.map((text) => (text.startsWith('two') ? 1 : 0)),
  }
  expect(orderOf(await rerankPages(byLength, 'q', readQuery('q'), three, silentLog))).toEqual([
    ['two', 0.9],
    ['one', 0.6],
    ['three', 0.3],
  ])
})

test('a model that fails, or gives no numbers, changes nothing', async () => {
  for (const score of [
    async () => Promise.reject(new Error('broken')),
    async () => [Number.NaN, 1, 2],
    async () => [1],
  ])
    expect(await rerankPages({ pages: 3, score }, 'q', readQuery('q'), three, silentLog)).toBe(three)
})

const vocabulary = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'short', 'squeeze', '##s', 'a', '.', '漢'].join('\n')

test('words are cut into the longest pieces that a vocabulary has', () => {
  const encode = createWordPieces(vocabulary)
  expect(encode('Short squeezes', 'a xyz. 漢', 32)).toEqual({
    ids: [2, 4, 5, 6, 3, 7, 1, 8, 9, 3],
    types: [0, 0, 0, 0, 0, 1, 1, 1, 1, 1],
  })
  expect(encode('short', 'a '.repeat(100), 10).ids).toHaveLength(10)
  expect(() => createWordPieces('nothing')).toThrow('[UNK]')
})

test('an ONNX model is given pieces, masks and types, and its last column is the score', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rerank-'))
  await writeFile(join(folder, 'vocab.txt'), vocabulary)
  const seen: Record<string, { data: BigInt64Array; dims: readonly number[] }>[] = []
  const runtime = {
    Tensor: function tensor(_type: string, data: BigInt64Array, dims: readonly number[]) {
      return { data, dims }
    },
    InferenceSession: {
      create: async () => ({
        inputNames: ['input_ids', 'attention_mask'],
        outputNames: ['logits'],
        run: async (inputs: (typeof seen)[number]) => {
          seen.push(inputs)
          return { logits: { data: Float32Array.of(9, 0.25, 9, 0.75), dims: [2, 2] } }
        },
      }),
    },
  } as unknown as OnnxRuntime
  const reranker = await openOnnxReranker({ model: 'm.onnx', vocabulary: join(folder, 'vocab.txt'), pages: 5 }, runtime)
  expect(await reranker.score('short', ['a', 'a a'])).toEqual([0.25, 0.75])
  expect(Object.keys(seen[0] ?? {})).toEqual(['input_ids', 'attention_mask'])
  expect(seen[0]?.['input_ids']).toMatchObject({ dims: [2, 6] })
  expect([...(seen[0]?.['attention_mask']?.data ?? [])].map(Number)).toEqual([1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1])
  await rm(folder, { recursive: true })
})

test('without the package a re-ranker that was named stops the start, and settings that do not fit are problems', async () => {
  await expect(loadOnnxRuntime()).rejects.toThrow('npm install onnxruntime-node')
  expect(parseMatchSettings('postgres', {})).toMatchObject({ engine: 'postgres', rerank: undefined })
  expect(() => parseMatchSettings('opensearch', {})).toThrow('opensearch_url')
  expect(() => parseMatchSettings('opensearch', { opensearch_url: 'http://search.example.org' })).toThrow('https')
  expect(() => parseMatchSettings('index', { rerank_model: 'm.onnx' })).toThrow('belong together')
})
