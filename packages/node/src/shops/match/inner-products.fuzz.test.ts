import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compile, createInnerProducts } from './inner-products.ts'

test('the products of all pairs are those of a plain loop, in WebAssembly and without it', () => {
  const compiled = compile()
  expect(compiled).toBeDefined()
  const shape = fc.record({ count: fc.integer({ min: 0, max: 24 }), dims: fc.integer({ min: 1, max: 130 }) })
  fc.assert(
    fc.property(
      shape.chain(({ count, dims }) =>
        fc.record({
          dims: fc.constant(dims),
          vectors: fc.array(fc.int8Array({ minLength: dims, maxLength: dims }), { minLength: count, maxLength: count }),
        }),
      ),
      ({ dims, vectors }) => {
        for (const way of [compiled, undefined]) {
          const { vectors: memory, stride, multiply } = createInnerProducts(24, dims, way)
          for (const [at, vector] of vectors.entries()) memory.set(vector, at * stride)
          const products = multiply(vectors.length)
          for (const [a, left] of vectors.entries())
            for (const [b, right] of vectors.entries())
              if (a <= b)
                expect(products[a * vectors.length + b]).toBe(
                  left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0),
                )
        }
      },
    ),
    { numRuns: 60 },
  )
})
