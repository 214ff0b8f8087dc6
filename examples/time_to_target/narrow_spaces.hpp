// Search spaces of the baselines, narrowed to where they train the library's small workloads well, so that a study of
// few trials reaches the targets. The published spaces are made for larger models and more trials.
#pragma once

inline const char* const narrow_spaces = R"json({
  "adamw": {
    "learning_rate": {"min": 4e-3, "max": 2e-2, "scaling": "log"},
    "one_minus_beta1": {"min": 0.05, "max": 0.2, "scaling": "log"},
    "weight_decay": {"min": 5e-3, "max": 0.2, "scaling": "log"}
  },
  "nadamw": {
    "learning_rate": {"min": 4e-3, "max": 2e-2, "scaling": "log"},
    "one_minus_beta1": {"min": 0.03, "max": 0.2, "scaling": "log"},
    "weight_decay": {"min": 5e-3, "max": 0.2, "scaling": "log"}
  },
  "lamb": {
    "learning_rate": {"min": 4e-3, "max": 4e-2, "scaling": "log"},
    "one_minus_beta1": {"min": 0.05, "max": 0.2, "scaling": "log"},
    "weight_decay": {"min": 5e-3, "max": 0.2, "scaling": "log"}
  },
  "adafactor": {
    "learning_rate": {"min": 4e-3, "max": 2e-2, "scaling": "log"},
    "one_minus_beta1": {"min": 0.05, "max": 0.2, "scaling": "log"},
    "weight_decay": {"min": 5e-3, "max": 0.2, "scaling": "log"}
  },
  "shampoo": {
    "learning_rate": {"min": 4e-3, "max": 2e-2, "scaling": "log"},
    "one_minus_beta1": {"min": 0.05, "max": 0.15, "scaling": "log"},
    "weight_decay": {"min": 5e-3, "max": 0.2, "scaling": "log"}
  },
  "sam_adamw": {
    "learning_rate": {"min": 4e-3, "max": 2e-2, "scaling": "log"},
    "one_minus_beta1": {"min": 0.05, "max": 0.2, "scaling": "log"},
    "weight_decay": {"min": 1e-2, "max": 0.2, "scaling": "log"},
    "rho": {"feasible_points": [0.01, 0.02, 0.05]}
  },
  "schedule_free_adamw": {
    "learning_rate": {"min": 4e-3, "max": 2e-2, "scaling": "log"},
    "one_minus_beta1": {"min": 0.05, "max": 0.2, "scaling": "log"},
    "weight_decay": {"min": 5e-3, "max": 0.2, "scaling": "log"}
  },
  "muon": {
    "learning_rate": {"min": 4e-3, "max": 2e-2, "scaling": "log"},
    "one_minus_beta1": {"min": 0.05, "max": 0.2, "scaling": "log"},
    "weight_decay": {"min": 5e-3, "max": 0.2, "scaling": "log"}
  },
  "heavy_ball": {
    "learning_rate": {"min": 0.1, "max": 0.4, "scaling": "log"},
    "one_minus_beta1": {"min": 0.08, "max": 0.2, "scaling": "log"},
    "weight_decay": {"min": 1e-7, "max": 1e-5, "scaling": "log"},
    "end_factor": 0.01
  },
  "nesterov": {
    "learning_rate": {"min": 0.1, "max": 0.4, "scaling": "log"},
    "one_minus_beta1": {"min": 0.08, "max": 0.2, "scaling": "log"},
    "weight_decay": {"min": 1e-7, "max": 1e-5, "scaling": "log"},
    "end_factor": 0.01
  }
})json";
