// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IERC1271} from "../SignatureCheck.sol";

/// Never answers: whoever asks loses all the gas the question was given.
contract GasBurningWallet is IERC1271 {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        while (true) {}
        return 0;
    }
}
