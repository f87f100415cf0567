/** @file twang.h
 *  Everything: exponential integrators for stiff elastic systems.
 */
#ifndef TWANG_TWANG_H
#define TWANG_TWANG_H

#include <twang/cholesky.h>
#include <twang/contact.h>
#include <twang/display.h>
#include <twang/fibres.h>
#include <twang/fluid.h>
#include <twang/forces.h>
#include <twang/integrator.h>
#include <twang/log.h>
#include <twang/memory.h>
#include <twang/mesh.h>
#include <twang/model.h>
#include <twang/motion.h>
#include <twang/nearest_name.h>
#include <twang/operator.h>
#include <twang/parallel.h>
#include <twang/parents.h>
#include <twang/phi.h>
#include <twang/plasticity.h>
#include <twang/playback.h>
#include <twang/problem.h>
#include <twang/rigid.h>
#include <twang/run.h>
#include <twang/scene.h>
#include <twang/solid.h>
#include <twang/sparse.h>
#include <twang/square_root.h>
#include <twang/status.h>
#include <twang/stumpff.h>
#include <twang/tableau.h>
#include <twang/version.h>

#endif
