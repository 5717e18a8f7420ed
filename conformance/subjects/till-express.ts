import express from 'express'
import { sold as onExpress } from '../../packages/till/src/adapters/express.ts'
import { sold } from './open-till.ts'
import { path, port } from './setting.ts'

express().get(path, onExpress(sold)).listen(port, '127.0.0.1')
