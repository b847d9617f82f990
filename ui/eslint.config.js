import svelte from 'eslint-plugin-svelte';
import ts from 'typescript-eslint';

/** Only `src/lib/host` knows Tauri; everything else goes through its interface. */
const onlyHostKnowsTauri = {
  'no-restricted-imports': [
    'error',
    { patterns: [{ group: ['@tauri-apps/*'], message: 'Only src/lib/host may import Tauri: use the Host interface.' }] },
  ],
};

/** Shared components know no domain. */
const sharedKnowsNoDomain = {
  'no-restricted-imports': [
    'error',
    {
      patterns: [
        { group: ['@tauri-apps/*'], message: 'Only src/lib/host may import Tauri: use the Host interface.' },
        { regex: 'components/(transcript|worker|inbox|sidebar|settings|views)', message: 'Shared components know no domain.' },
        { regex: '^\\.\\./(transcript|worker|inbox|sidebar|settings|views)/', message: 'Shared components know no domain.' },
      ],
    },
  ],
};

export default ts.config(
  { ignores: ['dist/', 'node_modules/', 'src/lib/generated/'] },
  ...ts.configs.recommended,
  ...svelte.configs['flat/recommended'],
  { files: ['**/*.svelte', '**/*.svelte.ts'], languageOptions: { parserOptions: { parser: ts.parser } } },
  { rules: { '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }] } },
  { files: ['src/**/*.ts', 'src/**/*.svelte'], ignores: ['src/lib/host/**'], rules: onlyHostKnowsTauri },
  { files: ['src/components/shared/**'], rules: sharedKnowsNoDomain },
);
