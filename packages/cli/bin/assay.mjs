#!/usr/bin/env node
import { register } from 'tsx/esm/api'

// No build step: the sources run as they are.
register()
await import('../src/main.ts')
